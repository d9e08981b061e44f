package dev.kastor.engine.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.Recurrent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Recurrent layers whose batch several threads share. */
class RecurrenceTest {
  private static final int TIME = 5;
  private static final int HIDDEN = 4;

  private final List<Node> inputs = new ArrayList<>();

  private Node input(String label, int... extents) {
    Node input = Node.input(label, Type.f32(extents));
    inputs.add(input);
    return input;
  }

  private Graph layer(Recurrent.Cell cell, int time, int batch) {
    int width = cell.gates() * HIDDEN;
    Node projected = input("projected", time, batch, width);
    Node weights = input("weights", HIDDEN, width);
    Node bias = input("bias", width);
    Node states = Node.of(new Recurrent(cell), projected, weights, bias);
    Node out = Recurrent.output(states);
    Node loss = out.multiply(out).sum(0, 3);
    List<Node> outputs = new ArrayList<>(List.of(out));
    outputs.addAll(Gradients.of(loss, inputs));
    return new Graph(outputs);
  }

  private static Backend cpu(int threads) {
    return ((CpuBackend.Availability.Available) CpuBackend.load(threads)).backend();
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource(Recurrent.Cell.class)
  void threadsShareABatchOfAnySize(Recurrent.Cell cell) {
    for (int batch : new int[] {3, 16, 37}) {
      agrees(cell, TIME, batch);
    }
  }

  @ParameterizedTest
  @EnumSource(Recurrent.Cell.class)
  void aSequenceMayBeOneStep(Recurrent.Cell cell) {
    agrees(cell, 1, 16);
  }

  private void agrees(Recurrent.Cell cell, int time, int batch) {
    inputs.clear();
    Graph graph = layer(cell, time, batch);
    List<float[]> plain = Runs.twice(new ReferenceBackend(), graph, inputs);
    for (int threads : new int[] {1, 2, 3}) {
      List<float[]> shared = Runs.twice(cpu(threads), graph, inputs);
      for (int o = 0; o < plain.size(); o++) {
        assertThat(shared.get(o))
            .as("result %d of %d examples with %d threads", o, batch, threads)
            .containsExactly(plain.get(o), within(1e-4f));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Recurrent.Cell.class)
  void theGradientOfTheStateIsReadWhereItLies(Recurrent.Cell cell) {
    List<String> kernels = new ArrayList<>();
    Backend observed =
        ((CpuBackend) cpu(1))
            .observedBy(kernel -> {
              kernels.add(kernel.op());
              return (start, end) -> {};
            });
    Graph graph = layer(cell, TIME, 16);
    Runs.twice(observed, graph, inputs);
    assertThat(kernels).filteredOn(kernel -> kernel.startsWith("recurrent")).hasSize(2);
    assertThat(kernels).doesNotContain("pad");
  }
}
