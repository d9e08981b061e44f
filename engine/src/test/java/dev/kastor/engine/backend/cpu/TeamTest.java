package dev.kastor.engine.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.MaxPool;
import dev.kastor.engine.op.MaxPoolGradient;
import dev.kastor.engine.op.Normalize;
import dev.kastor.engine.op.Softmax;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Loops that several threads share. */
class TeamTest {
  @Test
  void everyUnitIsDoneOnceInAnyNumberOfParts() {
    for (int units : new int[] {1, 2, 7, 1000}) {
      AtomicIntegerArray done = new AtomicIntegerArray(units);
      AtomicInteger parts = new AtomicInteger();
      Kernel loop =
          new Team(3)
              .loop(
                  units,
                  10L * Team.GRAIN,
                  () -> {
                    parts.incrementAndGet();
                    return (from, to) -> {
                      for (int i = from; i < to; i++) {
                        done.incrementAndGet(i);
                      }
                    };
                  });
      loop.run();
      loop.run();
      assertThat(parts.get()).isEqualTo(Math.min(3, units));
      for (int i = 0; i < units; i++) {
        assertThat(done.get(i)).isEqualTo(2);
      }
    }
  }

  @Test
  void aSmallLoopStaysOnItsThread() {
    Thread here = Thread.currentThread();
    new Team(4)
        .loop(
            100,
            Team.GRAIN - 1,
            () -> (from, to) -> assertThat(Thread.currentThread()).isSameAs(here))
        .run();
  }

  @Test
  void theFailureOfOnePartIsThrownWhenAllHaveEnded() {
    AtomicInteger ended = new AtomicInteger();
    Kernel loop =
        new Team(2)
            .loop(
                2,
                2L * Team.GRAIN,
                () ->
                    (from, to) -> {
                      ended.incrementAndGet();
                      if (from == 1) {
                        throw new IndexOutOfBoundsException("as told");
                      }
                    });
    assertThatThrownBy(loop::run).isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(ended.get()).isEqualTo(2);
  }

  @Tag("slow")
  @Test
  void threadsDoNotChangeABit() {
    Node x = Node.input("x", Type.f32(96, 32, 64));
    Node rows = Node.input("rows", new Type(Shape.of(2048), DType.I32));
    Node image = x.reshape(12, 32, 32, 16);
    Node pooled = Node.of(new MaxPool(2), image);
    List<Node> outputs =
        List.of(
            x.tanh().multiply(x.add(1)),
            x.permute(2, 0, 1).exp(),
            x.sum(1, 2),
            x.maximum(2, 3),
            Node.of(new Softmax(false), x),
            Node.of(new Normalize(1e-5f), x),
            pooled,
            Node.of(new MaxPoolGradient(2), image, pooled, pooled),
            x.reshape(3072, 64).gather(rows),
            x.reshape(3072, 64).gather(rows.reshape(32, 64).permute(1, 0)),
            Node.of(new Primitive.ScatterAdd(3072), x.reshape(2048, 96).slice(1, 0, 40), rows),
            x.pad(1, 2, 1));
    assertThat(run(3, outputs, x, rows)).isDeepEqualTo(run(1, outputs, x, rows));
  }

  private static float[][] run(int threads, List<Node> outputs, Node x, Node rows) {
    CpuBackend cpu = LoadedCpu.backend(threads);
    SplittableRandom random = new SplittableRandom(7);
    float[] values = new float[x.shape().elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextDouble(-2, 2);
    }
    int[] numbers = random.ints(2048, 0, 3072).toArray();
    List<float[]> results = new ArrayList<>();
    try (Executable executable = cpu.compile(new Graph(outputs))) {
      executable.input(x).write(values, 0);
      executable.input(rows).write(numbers, 0);
      executable.run();
      for (int i = 0; i < outputs.size(); i++) {
        results.add(executable.output(i).floats());
      }
    }
    return results.toArray(float[][]::new);
  }
}
