package dev.kastor.engine.op;

import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Node;
import java.util.List;

/** From softmax y {@code [.., n]} and its gradient g to that of the scores: y (g - sum(g y)). */
public record SoftmaxGradient() implements Fused {
  @Override
  public Node decompose(List<Node> inputs) {
    Node softmax = inputs.get(0);
    Node gradient = inputs.get(1);
    int rank = softmax.shape().rank();
    Node mean = gradient.multiply(softmax).sum(rank - 1, rank).reshape(softmax.shape().with(-1, 1));
    return softmax.multiply(gradient.subtract(mean));
  }
}
