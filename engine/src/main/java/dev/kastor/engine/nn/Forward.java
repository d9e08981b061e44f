package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import java.util.List;

/**
 * Inference pass of a network as a graph.
 *
 * @param features input of the graph, {@code [examples, ..example]}
 * @param logits result, {@code [examples * positions, classes]}
 * @param parameters trained values in the order in which a model has them side by side
 * @param statistics running averages in their order
 */
public record Forward(Node features, Node logits, List<Node> parameters, List<Node> statistics) {
  public Forward {
    parameters = List.copyOf(parameters);
    statistics = List.copyOf(statistics);
  }

  /** The pass of so many examples. */
  public static Forward of(Network network, int examples) {
    Layers layers = new Layers(false);
    Node features = features(network, examples);
    Node logits = network.logits(layers, features);
    return new Forward(features, logits, layers.parameters(), layers.running());
  }

  /** The input of a network: {@code [examples, ..example]}. */
  static Node features(Network network, int examples) {
    int[] example = network.example().shape().extents();
    int[] extents = new int[example.length + 1];
    extents[0] = examples;
    System.arraycopy(example, 0, extents, 1, example.length);
    return Node.input("features", new Type(Shape.of(extents), network.example().dtype()));
  }

  /** The name of a parameter or of a statistic. */
  public static String name(Node leaf) {
    return switch (leaf.op()) {
      case Primitive.Parameter(String label, _) -> label;
      case Primitive.Input(String label, _) -> label;
      default -> throw new IllegalArgumentException(leaf + " is neither of both");
    };
  }

  /** The layout of the vector of parameters. */
  public Layout layout() {
    return layout(parameters);
  }

  /** The layout of the vector of running averages. */
  public Layout statisticsLayout() {
    return layout(statistics);
  }

  /** The layout of parameters or statistics. */
  static Layout layout(List<Node> leaves) {
    return Layout.of(
        leaves.stream().map(Forward::name).toList(), leaves.stream().map(Node::shape).toList());
  }
}
