package dev.kastor.engine.op;

import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Node;
import java.util.List;
import java.util.Optional;

/**
 * Mean 0 and variance 1 over the last axis of {@code [.., n]}: the core of layer normalisation (Ba
 * et al., 2016, equation 4).
 *
 * @param epsilon added to the variance
 */
public record Normalize(float epsilon) implements Fused {
  @Override
  public Node decompose(List<Node> inputs) {
    Node x = inputs.getFirst();
    int rank = x.shape().rank();
    var column = x.shape().with(-1, 1);
    Node centred = x.subtract(x.mean(rank - 1, rank).reshape(column));
    Node variance = centred.multiply(centred).mean(rank - 1, rank).reshape(column);
    return centred.multiply(variance.add(epsilon).reciprocalRoot());
  }

  @Override
  public Optional<List<Node>> gradients(Node node, Node gradient) {
    return Optional.of(
        List.of(Node.of(new NormalizeGradient(epsilon), node.input(0), node, gradient)));
  }
}
