package dev.kastor.engine.graph;

import java.util.List;

/**
 * A computation with parameters: a branch, or what a loop repeats. It refers to nothing outside.
 *
 * @param parameters distinct inputs
 * @param results depend on the parameters and on constants alone
 */
public record Body(List<Node> parameters, List<Node> results) {
  public Body {
    parameters = List.copyOf(parameters);
    results = List.copyOf(results);
  }

  /** The types of the results. */
  public List<Type> types() {
    return results.stream().map(Node::type).toList();
  }

  /** The types of the parameters. */
  List<Type> accepts() {
    return parameters.stream().map(Node::type).toList();
  }
}
