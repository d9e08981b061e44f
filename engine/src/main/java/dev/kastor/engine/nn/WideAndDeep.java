package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.util.List;

/**
 * A linear model of categories and of their pairs beside layers over what the categories are
 * embedded in (Cheng et al., "Wide &amp; Deep Learning for Recommender Systems", 2016, section 3):
 * the one remembers, the other generalises, and both are trained together.
 *
 * <p>An example is a token for each column, then one for each pair. Each column and each pair has
 * numbers of its own: those of columns lie below {@code columnTokens}, those of pairs from there.
 *
 * @param columns columns of an example
 * @param pairs pairs of columns that the linear model looks at
 * @param columnTokens all tokens of columns
 * @param tokens all tokens, those of pairs included
 * @param embedding width of an embedded token
 * @param hidden widths of the layers over the embedded tokens
 */
public record WideAndDeep(
    int columns,
    int pairs,
    int columnTokens,
    int tokens,
    int embedding,
    List<Integer> hidden,
    int classes)
    implements Network {
  public WideAndDeep {
    hidden = List.copyOf(hidden);
    if (columns < 1 || pairs < 0 || columnTokens < columns || tokens < columnTokens + pairs) {
      throw new IllegalArgumentException(
          "%d columns with %d tokens and %d pairs with %d: each needs one of its own"
              .formatted(columns, columnTokens, pairs, tokens - columnTokens));
    }
  }

  @Override
  public Type example() {
    return new Type(Shape.of(columns + pairs), DType.I32);
  }

  @Override
  public int positions() {
    return 1;
  }

  @Override
  public Node logits(Layers layers, Node features) {
    int batch = features.shape().extent(0);
    Node weights = layers.parameter("wide", Shape.of(tokens, classes), Initial.ZEROS);
    Node wide = weights.gather(features).sum(1, 2);
    Node own = pairs == 0 ? features : features.slice(1, 0, columns);
    Node x =
        layers
            .embedding("embedding", own, columnTokens, embedding)
            .reshape(batch, columns * embedding);
    for (int i = 0; i < hidden.size(); i++) {
      x = layers.dense("hidden" + i, x, hidden.get(i)).relu();
    }
    return layers.dense("head", x, classes).add(wide);
  }
}
