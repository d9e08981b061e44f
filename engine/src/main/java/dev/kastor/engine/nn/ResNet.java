package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import java.util.List;

/**
 * A residual network for small images: a 3x3 convolution, stages of basic blocks, then the mean
 * over what is left of the image and one dense layer (He et al., CVPR 2016, sections 3.3 and 4.2).
 * Every stage but the first halves height and width and doubles the channels; where the shape
 * changes, the shortcut is a projection (their option B).
 *
 * @param channels of an image; features are {@code [height, width, channels]}
 * @param stem channels of the first convolution and stage
 * @param blocks how many blocks each stage has; 2, 2, 2, 2 with a stem of 64 is ResNet-18
 */
public record ResNet(
    int channels, int height, int width, int classes, int stem, List<Integer> blocks)
    implements Network {
  public ResNet {
    blocks = List.copyOf(blocks);
  }

  @Override
  public Type example() {
    return Type.f32(height, width, channels);
  }

  @Override
  public int positions() {
    return 1;
  }

  @Override
  public Node logits(Layers layers, Node features) {
    Node x = layers.convolution("stem", features, stem, 3);
    x = layers.batchNorm("stem.norm", x).relu();
    for (int stage = 0; stage < blocks.size(); stage++) {
      for (int i = 0; i < blocks.get(stage); i++) {
        int stride = stage > 0 && i == 0 ? 2 : 1;
        x = block(layers, "stage%d.block%d".formatted(stage, i), x, stem << stage, stride);
      }
    }
    int cells = x.shape().elements(1, 3);
    x = x.reshape(x.shape().extent(0), cells, x.shape().extent(3)).mean(1, 2);
    return layers.dense("head", x, classes);
  }

  private static Node block(Layers layers, String label, Node x, int width, int stride) {
    Node inner = layers.convolution(label + ".first", x, width, 3, stride);
    inner = layers.batchNorm(label + ".norm1", inner).relu();
    inner = layers.convolution(label + ".second", inner, width, 3);
    inner = layers.batchNorm(label + ".norm2", inner);
    Node shortcut = x;
    if (stride > 1 || x.shape().extent(3) != width) {
      shortcut = layers.convolution(label + ".shortcut", x, width, 1, stride);
      shortcut = layers.batchNorm(label + ".norm3", shortcut);
    }
    return inner.add(shortcut).relu();
  }
}
