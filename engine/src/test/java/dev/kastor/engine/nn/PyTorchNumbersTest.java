package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.tensor.DType;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Networks against the modules of {@code bench/peer/measure.py} under PyTorch 2.11 in double
 * precision. Parameter i of ours, in order, is sin(i) / 2, there permuted to PyTorch's layouts;
 * feature i is cos(i) or the token 7 i mod 256, target i is 3 i mod classes.
 */
class PyTorchNumbersTest {
  static Stream<Arguments> networks() {
    return Stream.of(
        Arguments.of(new Cnn(2, 4, 4, 3, List.of(3, 4), 5), 3, 0.8142889761, 1.0683767592),
        Arguments.of(new ResNet(2, 6, 6, 3, 4, List.of(1, 2)), 3, 1.2951415402, 1.9630592276),
        Arguments.of(TransformerLanguageModel.ofBytes(5, 8, 2, 2), 2, 5.6264075315, 1.8752316165));
  }

  @ParameterizedTest
  @MethodSource("networks")
  void lossAndGradientAreTheSame(Network network, int examples, double loss, double gradientNorm) {
    float[] features = new float[examples * network.example().shape().elements()];
    for (int i = 0; i < features.length; i++) {
      features[i] = network.example().dtype() == DType.I32 ? 7 * i % 256 : (float) Math.cos(i);
    }
    int[] targets = new int[examples * network.positions()];
    for (int i = 0; i < targets.length; i++) {
      targets[i] = 3 * i % network.classes();
    }
    try (GraphModel model = new GraphModel(network, new ReferenceBackend(), 1)) {
      for (int i = 0; i < model.parameters().length; i++) {
        model.parameters()[i] = (float) (Math.sin(i) / 2);
      }
      float[] gradient = new float[model.parameters().length];
      float[] statistics = new float[model.statistics().length];
      assertThat(model.pass(new Batch(examples, features, targets), gradient, statistics))
          .isCloseTo(loss, within(1e-5));
      double squares = 0;
      for (float each : gradient) {
        squares += each * each;
      }
      assertThat(Math.sqrt(squares)).isCloseTo(gradientNorm, within(1e-5 * gradientNorm));
    }
  }
}
