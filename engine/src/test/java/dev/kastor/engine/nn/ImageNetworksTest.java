package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class ImageNetworksTest {
  @Test
  void resNet18HasAsManyParametersAsInPyTorch() {
    // torchvision's resnet18 with a 3x3 stem, no pooling and 10 classes.
    assertThat(parameters(new ResNet(3, 32, 32, 10, 64, List.of(2, 2, 2, 2))))
        .isEqualTo(11_173_962);
  }

  @Test
  void laterStagesHalveTheImageAndRoundUp() {
    Layers layers = new Layers(true);
    ResNet network = new ResNet(1, 7, 7, 2, 4, List.of(1, 1));
    network.logits(layers, Forward.features(network, 2));
    assertThat(layers.weights().stream().map(weight -> weight.node().shape().elements()).toList())
        // Stem, one block of 4 channels, one of 8 with its projection, and the head.
        .containsExactly(36, 4, 4, 144, 4, 4, 144, 4, 4, 288, 8, 8, 576, 8, 8, 32, 8, 8, 16, 2);
  }

  @Test
  void cnnHasAsManyParametersAsItsLayers() {
    int convolutions = 9 * 32 + 32 + 9 * 32 * 64 + 64;
    int dense = 7 * 7 * 64 * 128 + 128 + 128 * 10 + 10;
    assertThat(parameters(new Cnn(1, 28, 28, 10, List.of(32, 64), 128)))
        .isEqualTo(convolutions + dense);
  }

  @Test
  void cnnRefusesSidesThatCannotBeHalved() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Cnn(1, 28, 30, 10, List.of(2, 2), 8))
        .withMessageContaining("28x30 cannot be halved 2 times");
  }

  private static int parameters(Network network) {
    Layers layers = new Layers(true);
    network.logits(layers, Forward.features(network, 1));
    return layers.weights().stream().mapToInt(weight -> weight.node().shape().elements()).sum();
  }
}
