package dev.kastor.agent.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kastor.agent.ring.GradientExchange;
import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.ring.RingCipher;
import dev.kastor.agent.ring.RingKey;
import dev.kastor.agent.ring.RingLimits;
import dev.kastor.agent.ring.RingListener;
import dev.kastor.agent.ring.Sums;
import dev.kastor.engine.backend.cuda.GpuGroups;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How members agree on NCCL, over real rings; the library itself is tested beside its binding. */
@Timeout(120)
final class NcclSumsTest {
  private static final int SIZE = 3;
  private static final int LENGTH = 25;
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<RingListener> listeners = new ArrayList<>();
  private List<Ring> rings = List.of();
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicInteger summed = new AtomicInteger();

  /** Members of one group, in threads; sums over rings of their own. */
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
          try {
            rings.get(rank).allReduce(data, from, to);
          } catch (RingBrokenException e) {
            throw new IllegalStateException(e);
          }
        }

        @Override
        public void close() {
          open.decrementAndGet();
        }
      };
    }
  }

  @BeforeEach
  void form() throws Exception {
    RingKey key =
        new RingKey(
            "team/job",
            "a secret of 32 bytes and a few...".getBytes(StandardCharsets.UTF_8),
            RingCipher.AES_GCM);
    for (int i = 0; i < SIZE; i++) {
      listeners.add(RingListener.open(key, RingLimits.DEFAULT, InetAddress.getLoopbackAddress()));
    }
    List<InetSocketAddress> members =
        listeners.stream()
            .map(each -> new InetSocketAddress(InetAddress.getLoopbackAddress(), each.port()))
            .toList();
    rings =
        together(rank ->
            Ring.open(listeners.get(rank), 1, rank, members, RingLimits.DEFAULT, () -> false));
  }

  @AfterEach
  void close() throws Exception {
    rings.forEach(Ring::close);
    for (RingListener listener : listeners) {
      listener.close();
    }
    threads.shutdownNow();
    threads.close();
    assertThat(open).as("groups that are left").hasValue(0);
  }

  /** What a member does. */
  private interface Part<T> {
    T of(int rank) throws Exception;
  }

  private <T> List<T> together(Part<T> part) throws Exception {
    List<Future<T>> parts = new ArrayList<>();
    for (int i = 0; i < SIZE; i++) {
      int rank = i;
      parts.add(threads.submit(() -> part.of(rank)));
    }
    List<T> results = new ArrayList<>();
    for (Future<T> each : parts) {
      results.add(each.get());
    }
    return results;
  }

  private List<float[]> exchange(List<NcclSums> makers) throws Exception {
    return together(rank -> {
      float[] gradient = new float[LENGTH];
      for (int i = 0; i < LENGTH; i++) {
        gradient[i] = i + 100 * rank;
      }
      Ring ring = rings.get(rank);
      try (Sums sums = makers.get(rank).over(ring);
          GradientExchange exchange = new GradientExchange(ring, sums, gradient, (_, _, _) -> {})) {
        exchange.ready(7);
        exchange.ready(0);
        exchange.finish();
      }
      return gradient;
    });
  }

  private static void assertSums(List<float[]> gradients) {
    for (float[] gradient : gradients) {
      for (int i = 0; i < LENGTH; i++) {
        assertThat(gradient[i]).isEqualTo(3 * i + 300);
      }
    }
  }

  private NcclSums able() {
    return new NcclSums(new Groups(null, null), LIMIT);
  }

  @Test
  void gpusSumWhereAllHaveThem() throws Exception {
    assertSums(exchange(List.of(able(), able(), able())));
    assertThat(summed).hasValue(SIZE * LENGTH);
  }

  @Test
  void theRingSumsWhereSomebodyHasNoGpu() throws Exception {
    for (int lacking = 0; lacking < SIZE; lacking++) {
      List<NcclSums> makers = new ArrayList<>(List.of(able(), able(), able()));
      makers.set(lacking, new NcclSums(null, LIMIT));
      assertSums(exchange(makers));
    }
    assertThat(summed).hasValue(0);
  }

  @Test
  void theRingSumsWhereSomebodyCannotJoin() throws Exception {
    NcclSums refused = new NcclSums(new Groups("duplicate GPU", null), LIMIT);
    assertSums(exchange(List.of(able(), refused, able())));
    assertThat(summed).hasValue(0);
  }

  @Test
  void aSumThatFailsBreaksTheRing() {
    NcclSums failing = new NcclSums(new Groups(null, "remote process exited"), LIMIT);
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> exchange(List.of(failing, failing, failing)))
        .withCauseInstanceOf(RingBrokenException.class);
    assertThatExceptionOfType(RingBrokenException.class)
        .isThrownBy(() -> rings.getFirst().allGather(new byte[0]));
  }
}
