package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.MaxPool;
import dev.kastor.engine.tensor.Shape;
import java.util.List;

/**
 * Blocks of 3x3 convolution with bias, ReLU and 2x2 max pooling, then two dense layers with ReLU
 * between them: LeNet-5 (LeCun et al., Proceedings of the IEEE 1998) with today's parts.
 *
 * @param channels of an image; features are {@code [height, width, channels]}
 * @param widths channels of each block; height and width must halve that often
 * @param hidden width of the first dense layer
 */
public record Cnn(
    int channels, int height, int width, int classes, List<Integer> widths, int hidden)
    implements Network {
  public Cnn {
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
      String label = "block" + i;
      Node bias = layers.parameter(label + ".bias", Shape.of(widths.get(i)), Initial.ZEROS);
      x = layers.convolution(label, x, widths.get(i), 3).add(bias).relu();
      x = Node.of(new MaxPool(2), x);
    }
    x = x.reshape(x.shape().extent(0), x.shape().elements(1, 4));
    return layers.dense("head", layers.dense("hidden", x, hidden).relu(), classes);
  }
}
