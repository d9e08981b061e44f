package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Shape;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecurrentLanguageModelTest {
  private static final Batch BATCH =
      new Batch(2, new float[] {1, 4, 0, 2, 3, 3, 1, 0}, new int[] {4, 0, 2, 1, 3, 1, 0, 2});

  private final ReferenceBackend reference = new ReferenceBackend();

  /**
   * Against {@code torch.nn.LSTM} and {@code torch.nn.GRU} of PyTorch 2.11 in double precision:
   * vocabulary 5, embedding 3, state 2; parameter i is sin(i) / 2, in the order embedding, input
   * weight and bias, state weight and bias, head weight and bias, weights as {@code [in, out]}.
   */
  @ParameterizedTest
  @CsvSource({
    "LSTM, 1.8034883588, 0.3523606717, 47, -0.0056043614",
    "GRU, 1.8961968840, 0.4684406357, 39, -0.0036050276"
  })
  void agreesWithPyTorch(
      RecurrentCell cell, double loss, double gradientNorm, int stateWeight, double derivative) {
    var network = new RecurrentLanguageModel(4, 5, 3, 2, cell);
    try (GraphModel model = new GraphModel(network, reference, 1)) {
      for (int i = 0; i < model.parameters().length; i++) {
        model.parameters()[i] = (float) (Math.sin(i) / 2);
      }
      float[] gradient = new float[model.parameters().length];
      assertThat(model.pass(BATCH, gradient, new float[0])).isCloseTo(loss, within(1e-6));
      double squares = 0;
      for (float each : gradient) {
        squares += each * each;
      }
      assertThat(Math.sqrt(squares)).isCloseTo(gradientNorm, within(1e-6));
      assertThat((double) gradient[stateWeight]).isCloseTo(derivative, within(1e-7));
    }
  }

  @Test
  void lstmKeepsAndForgetsByItsGates() {
    // Gates i, f, g, o before their functions, for a state of width 1 whose memory was 3.
    double[] next = step(RecurrentCell.LSTM, new double[] {100, 100, 100, 100}, 4, 3);
    assertThat(next[1]).as("memory: all kept, 1 added").isCloseTo(4, within(1e-9));
    assertThat(next[0]).as("output").isCloseTo(Math.tanh(4), within(1e-9));
    next = step(RecurrentCell.LSTM, new double[] {0, -100, 0.5, 0}, 4, 3);
    assertThat(next[1])
        .as("memory: half of what is new")
        .isCloseTo(Math.tanh(0.5) / 2, within(1e-9));
    assertThat(next[0]).as("output").isCloseTo(Math.tanh(Math.tanh(0.5) / 2) / 2, within(1e-9));
  }

  @Test
  void gruMixesOldAndNewByItsGates() {
    // Gates r, z, n. The state's share of n, 1 here, counts as much as r lets it.
    double[] next = step(RecurrentCell.GRU, new double[] {99, 99, 0}, 3, 3);
    assertThat(next[0]).as("update gate open: the old output").isCloseTo(3, within(1e-9));
    next = step(RecurrentCell.GRU, new double[] {-1, -101, 0.2}, 3, 3);
    assertThat(next[0])
        .as("update gate closed, reset gate half open")
        .isCloseTo(Math.tanh(0.2 + 0.5), within(1e-9));
  }

  /** Output and memory after one step; the state's product is 1 in each gate. */
  private double[] step(RecurrentCell cell, double[] input, int gates, double before) {
    Node fromInput = Node.input("input", Type.f32(1, gates));
    Node fromState = Node.constant(cell == RecurrentCell.GRU ? 1 : 0).broadcast(Shape.of(1, gates));
    Node old = Node.input("before", Type.f32(1, 1));
    RecurrentCell.State next = cell.step(fromInput, fromState, new RecurrentCell.State(old, old));
    List<double[]> values =
        reference.evaluate(
            Graph.of(next.output(), next.memory()),
            Map.of(fromInput, input, old, new double[] {before}));
    return new double[] {values.get(0)[0], values.get(1)[0]};
  }
}
