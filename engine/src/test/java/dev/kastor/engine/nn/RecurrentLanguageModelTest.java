package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.op.Recurrent;
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
      Recurrent.Cell cell, double loss, double gradientNorm, int stateWeight, double derivative) {
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
}
