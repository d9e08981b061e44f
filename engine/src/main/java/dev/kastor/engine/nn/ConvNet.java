package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.MaxPool;
import java.util.List;

/**
 * Blocks of 3x3 convolution, batch normalisation, ReLU and 2x2 max pooling, then the mean over what
 * is left of the image and one dense layer.
 *
 * @param channels of an image; features are {@code [height, width, channels]}
 * @param widths channels of each block; height and width must halve that often
 */
public record ConvNet(int channels, int height, int width, int classes, List<Integer> widths)
    implements Network {
  public ConvNet {
    widths = List.copyOf(widths);
    int side = 1 << widths.size();
    if (height % side != 0 || width % side != 0) {
      throw new IllegalArgumentException(
          "An image of %dx%d cannot be halved %d times. Use fewer widths or sides divisible by %d."
              .formatted(height, width, widths.size(), side));
    }
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
    Node x = features;
    for (int i = 0; i < widths.size(); i++) {
      x = layers.convolution("block" + i, x, widths.get(i), 3);
      x = layers.batchNorm("block" + i + ".norm", x).relu();
      x = Node.of(new MaxPool(2), x);
    }
    int cells = x.shape().elements(1, 3);
    x = x.reshape(x.shape().extent(0), cells, x.shape().extent(3)).mean(1, 2);
    return layers.dense("head", x, classes);
  }
}
