package dev.kastor.engine.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.KernelObserver;
import dev.kastor.engine.backend.cpu.CpuBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ObservedBackendTest {
  private static final CpuBackend CPU =
      ((CpuBackend.Availability.Available) CpuBackend.load(1)).backend();

  private final Node left = Node.input("left", Type.f32(2, 4));
  private final Node right = Node.input("right", Type.f32(4, 3));
  private final Node shifted = left.matMul(right).add(1).relu();
  private final Graph graph = Graph.of(shifted.sum(0, 1));

  private float[] run(Backend backend) {
    try (Executable executable = backend.compile(graph)) {
      executable.input(left).write(new float[] {1, 2, 3, 4, -5, -6, -7, -8}, 0);
      executable.input(right).write(new float[] {1, 0, 2, 0, 1, 2, 1, 0, 2, 0, 1, 2}, 0);
      executable.run();
      executable.run();
      float[] result = new float[3];
      executable.output(0).read(result, 0);
      return result;
    }
  }

  @Test
  void eachKernelIsHeardWithWhatItReadsAndWrites() {
    Profiler profiler = new Profiler();
    profiler.start();
    // First row: 4, 6, 20, each and 1 more; the second is negative.
    assertThat(run(CPU.observedBy(profiler))).containsExactly(5, 7, 21);
    assertThat(Totals.of(profiler))
        .extracting(Totals::op, Totals::operands, Totals::runs, Totals::bytes)
        .containsExactlyInAnyOrder(
            tuple("mat mul", List.of("[2, 4]", "[4, 3]"), 2L, 2 * 4L * (8 + 12 + 6)),
            tuple("reduce sum(relu, add)", List.of("[2, 3]"), 2L, 2 * 4L * (6 + 3)));
    // Inputs, the product in the slab, and the result.
    assertThat(Totals.mostAlive(profiler)).isBetween(4L * (8 + 12 + 6 + 3), 400L);
  }

  @Test
  void whoIsNotObservedComputesTheSame() {
    List<String> heard = new ArrayList<>();
    KernelObserver observer =
        kernel -> {
          heard.add(kernel.op());
          return (start, end) -> {};
        };
    assertThat(run(CPU)).isEqualTo(run(CPU.observedBy(observer)));
    assertThat(heard).hasSize(2);
  }
}
