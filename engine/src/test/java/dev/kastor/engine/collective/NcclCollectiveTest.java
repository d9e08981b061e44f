package dev.kastor.engine.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kastor.engine.backend.cuda.GpuGroups;
import dev.kastor.engine.train.Collective;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Agreement of members on NCCL; the library itself is tested beside its binding. */
final class NcclCollectiveTest {
  private static final int SIZE = 3;
  private static final int LENGTH = 25;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final MemoryMembers members = new MemoryMembers(SIZE);
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicInteger summed = new AtomicInteger();

  /** Members of one group, in threads, which sum over memory. */
  private final class Groups implements GpuGroups {
    private final @Nullable String refusal;
    private final @Nullable String failure;

    Groups(@Nullable String refusal, @Nullable String failure) {
      this.refusal = refusal;
      this.failure = failure;
    }

    @Override
    public byte[] newId() {
      return new byte[] {42};
    }

    @Override
    public Group join(byte[] id, int rank, int size, BooleanSupplier abandoned) {
      assertThat(id).containsExactly(42);
      assertThat(size).isEqualTo(SIZE);
      if (refusal != null) {
        throw new IllegalStateException(refusal);
      }
      open.incrementAndGet();
      return new Group() {
        @Override
        public int capacity() {
          return 10;
        }

        @Override
        public void sum(float[] data, int from, int to, BooleanSupplier abandoned) {
          if (failure != null) {
            throw new IllegalStateException(failure);
          }
          summed.addAndGet(to - from);
          members.sum(rank, data, from, to);
        }

        @Override
        public void close() {
          open.decrementAndGet();
        }
      };
    }
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    threads.close();
    assertThat(open).as("groups that are left").hasValue(0);
  }

  private List<float[]> exchange(List<Collective> collectives) throws Exception {
    List<Future<float[]>> parts = new ArrayList<>();
    for (int i = 0; i < SIZE; i++) {
      int rank = i;
      parts.add(threads.submit(() -> exchange(collectives.get(rank), rank)));
    }
    List<float[]> results = new ArrayList<>();
    for (Future<float[]> each : parts) {
      results.add(each.get());
    }
    return results;
  }

  private float[] exchange(Collective collective, int rank) throws IOException {
    float[] gradient = new float[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
      gradient[i] = i + 100 * rank;
    }
    try (Collective.Sums sums = collective.over(members.port(rank))) {
      for (int from = 0; from < LENGTH; from += sums.capacity()) {
        sums.allReduce(gradient, from, Math.min(LENGTH, from + sums.capacity()));
      }
    }
    return gradient;
  }

  private static void assertSums(List<float[]> gradients) {
    for (float[] gradient : gradients) {
      for (int i = 0; i < LENGTH; i++) {
        assertThat(gradient[i]).isEqualTo(3 * i + 300);
      }
    }
  }

  private Collective able() {
    return NcclCollective.of(new Groups(null, null));
  }

  @Test
  void gpusSumWhereAllHaveThem() throws Exception {
    assertSums(exchange(List.of(able(), able(), able())));
    assertThat(summed).hasValue(SIZE * LENGTH);
  }

  @Test
  void theRingSumsWhereSomebodyHasNoGpu() throws Exception {
    for (int lacking = 0; lacking < SIZE; lacking++) {
      List<Collective> collectives = new ArrayList<>(List.of(able(), able(), able()));
      collectives.set(lacking, NcclCollective.of(null));
      assertSums(exchange(collectives));
    }
    assertThat(summed).hasValue(0);
  }

  @Test
  void theRingSumsWhereSomebodyCannotJoin() throws Exception {
    Collective refused = NcclCollective.of(new Groups("duplicate GPU", null));
    assertSums(exchange(List.of(able(), refused, able())));
    assertThat(summed).hasValue(0);
  }

  @Test
  void aSumThatFailsIsAFailureOfTheGeneration() {
    Collective failing = NcclCollective.of(new Groups(null, "remote process exited"));
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> exchange(List.of(failing, failing, failing)))
        .withCauseInstanceOf(IOException.class)
        .withMessageContaining("a sum by NCCL failed: remote process exited");
  }
}
