package dev.kastor.engine.op;

import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import java.util.List;
import java.util.Optional;

/**
 * The softmax over the last axis of scores {@code [.., n]}.
 *
 * @param causal scores are {@code [.., n, n]} and row i sees columns 0 to i only; the rest become 0
 */
public record Softmax(boolean causal) implements Fused {
  /** Far below any score, yet finite, so that no NaN arises. */
  private static final double HIDDEN = -1e30;

  @Override
  public Type infer(List<Type> inputs) {
    boolean fits =
        inputs.size() == 1
            && inputs.getFirst().shape().rank() >= (causal ? 2 : 1)
            && (!causal
                || inputs.getFirst().shape().extent(-1) == inputs.getFirst().shape().extent(-2));
    if (!fits) {
      throw new ShapeException(this, causal ? "scores [.., n, n]" : "scores [.., n]", inputs);
    }
    return inputs.getFirst();
  }

  @Override
  public Node decompose(List<Node> inputs) {
    Node scores = inputs.getFirst();
    int rank = scores.shape().rank();
    if (causal) {
      var square = Type.f32(scores.shape().extent(-1), scores.shape().extent(-1)).shape();
      Node future = Node.iota(square, 1).greater(Node.iota(square, 0));
      scores = future.select(Node.constant(HIDDEN), scores);
    }
    var column = scores.shape().with(-1, 1);
    Node exponentials = scores.subtract(scores.maximum(rank - 1, rank).reshape(column)).exp();
    return exponentials.divide(exponentials.sum(rank - 1, rank).reshape(column));
  }

  @Override
  public Optional<List<Node>> gradients(Node node, Node gradient) {
    return Optional.of(List.of(Node.of(new SoftmaxGradient(), node, gradient)));
  }
}
