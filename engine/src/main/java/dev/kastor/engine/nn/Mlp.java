package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import java.util.List;

/**
 * Fully connected layers with ReLU between them.
 *
 * @param inputs features per example
 * @param hidden widths of the hidden layers, may be empty
 */
public record Mlp(int inputs, List<Integer> hidden, int classes) implements Network {
  public Mlp {
    hidden = List.copyOf(hidden);
  }

  @Override
  public Type example() {
    return Type.f32(inputs);
  }

  @Override
  public int positions() {
    return 1;
  }

  @Override
  public Node logits(Layers layers, Node features) {
    Node x = features;
    for (int i = 0; i < hidden.size(); i++) {
      x = layers.dense("hidden" + i, x, hidden.get(i)).relu();
    }
    return layers.dense("head", x, classes);
  }
}
