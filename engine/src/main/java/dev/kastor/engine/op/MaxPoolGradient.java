package dev.kastor.engine.op;

import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.tensor.Shape;
import java.util.List;

/**
 * From an image, its {@link MaxPool} and the pool's gradient to that of the image; equal maxima of
 * a window share equally.
 *
 * @param size side of a window
 */
public record MaxPoolGradient(int size) implements Fused {
  @Override
  public Node decompose(List<Node> inputs) {
    Node image = inputs.get(0);
    Shape pooled = inputs.get(1).shape();
    int[] split = {
      pooled.extent(0), pooled.extent(1), size, pooled.extent(2), size, pooled.extent(3)
    };
    int[] single = {pooled.extent(0), pooled.extent(1), 1, pooled.extent(2), 1, pooled.extent(3)};
    Node windows = image.reshape(split);
    Node winners = Node.constant(1).subtract(inputs.get(1).reshape(single).greater(windows));
    Node count = winners.permute(0, 1, 3, 2, 4, 5).sum(3, 5);
    Node share = inputs.get(2).divide(count).reshape(single);
    return winners.multiply(share).reshape(image.shape());
  }
}
