package dev.kastor.engine.op;

import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import java.util.List;

/**
 * From logits {@code [rows, classes]}, I32 targets {@code [rows]} and the losses' gradients {@code
 * [rows]} to the gradient of the logits: (softmax - one-hot) g.
 */
public record SoftmaxCrossEntropyGradient() implements Fused {
  @Override
  public Node decompose(List<Node> inputs) {
    Node logits = inputs.get(0);
    Node target = Node.of(new Primitive.OneHot(logits.shape().extent(1)), inputs.get(1));
    Node gradient = inputs.get(2).reshape(logits.shape().extent(0), 1);
    return Node.of(new Softmax(false), logits).subtract(target).multiply(gradient);
  }
}
