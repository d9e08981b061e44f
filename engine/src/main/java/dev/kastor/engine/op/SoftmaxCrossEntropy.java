package dev.kastor.engine.op;

import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import java.util.List;
import java.util.Optional;

/**
 * The negative log-likelihood in nats of classes under the softmax of logits: {@code [rows,
 * classes]} and I32 {@code [rows]} to {@code [rows]}.
 */
public record SoftmaxCrossEntropy() implements Fused {
  @Override
  public Type infer(List<Type> inputs) {
    boolean fits =
        inputs.size() == 2
            && inputs.get(0).shape().rank() == 2
            && inputs.get(1).dtype() == DType.I32
            && inputs.get(1).shape().rank() == 1
            && inputs.get(1).shape().extent(0) == inputs.get(0).shape().extent(0);
    if (!fits) {
      throw new ShapeException(this, "logits [rows, classes] and I32 targets [rows]", inputs);
    }
    return Type.f32(inputs.get(1).shape());
  }

  @Override
  public Node decompose(List<Node> inputs) {
    Node logits = inputs.get(0);
    int rows = logits.shape().extent(0);
    int classes = logits.shape().extent(1);
    Node top = logits.maximum(1, 2);
    Node total = logits.subtract(top.reshape(rows, 1)).exp().sum(1, 2);
    Node target = Node.of(new Primitive.OneHot(classes), inputs.get(1));
    return total.log().add(top).subtract(target.multiply(logits).sum(1, 2));
  }

  @Override
  public Optional<List<Node>> gradients(Node node, Node gradient) {
    Node logits = node.input(0);
    return Optional.of(
        List.of(Node.of(new SoftmaxCrossEntropyGradient(), logits, node.input(1), gradient)));
  }
}
