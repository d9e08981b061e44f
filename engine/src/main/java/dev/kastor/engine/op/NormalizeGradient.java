package dev.kastor.engine.op;

import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Node;
import java.util.List;

/**
 * From x, y = {@link Normalize}(x) and y's gradient g to that of x: (g - mean(g) - y mean(g y)) /
 * deviation, each over the last axis.
 *
 * @param epsilon added to the variance
 */
public record NormalizeGradient(float epsilon) implements Fused {
  @Override
  public Node decompose(List<Node> inputs) {
    Node x = inputs.get(0);
    Node y = inputs.get(1);
    Node g = inputs.get(2);
    int rank = x.shape().rank();
    var column = x.shape().with(-1, 1);
    Node centred = x.subtract(x.mean(rank - 1, rank).reshape(column));
    Node variance = centred.multiply(centred).mean(rank - 1, rank).reshape(column);
    Node mean = g.mean(rank - 1, rank).reshape(column);
    Node slope = g.multiply(y).mean(rank - 1, rank).reshape(column);
    return g.subtract(mean)
        .subtract(y.multiply(slope))
        .multiply(variance.add(epsilon).reciprocalRoot());
  }
}
