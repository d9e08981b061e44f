package dev.kastor.engine.op;

import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Shape;
import java.util.List;
import java.util.Optional;

/**
 * The maximum of each square window, side by side: {@code [n, h, w, c]} to {@code [n, h/size,
 * w/size, c]}.
 *
 * @param size side of a window; divides height and width
 */
public record MaxPool(int size) implements Fused {
  @Override
  public Type infer(List<Type> inputs) {
    Shape image = inputs.getFirst().shape();
    if (image.rank() != 4 || image.extent(1) % size != 0 || image.extent(2) % size != 0) {
      throw new ShapeException(
          this, "an image [n, h, w, c] with sides that are multiples of " + size, inputs);
    }
    return Type.f32(image.with(1, image.extent(1) / size).with(2, image.extent(2) / size));
  }

  @Override
  public Node decompose(List<Node> inputs) {
    Node image = inputs.getFirst();
    Shape pooled = infer(List.of(image.type())).shape();
    Shape windows =
        Shape.of(
            pooled.extent(0), pooled.extent(1), size, pooled.extent(2), size, pooled.extent(3));
    return image.reshape(windows).permute(0, 1, 3, 2, 4, 5).maximum(3, 5);
  }

  @Override
  public Optional<List<Node>> gradients(Node node, Node gradient) {
    return Optional.of(List.of(Node.of(new MaxPoolGradient(size), node.input(0), node, gradient)));
  }
}
