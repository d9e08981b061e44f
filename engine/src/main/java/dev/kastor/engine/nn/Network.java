package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;

/** A classifier of one or more positions per example, as a builder of graphs. */
public interface Network {
  /** One example's features; I32 if they are tokens. */
  Type example();

  /** Targets per example. */
  int positions();

  /** Classes per target. */
  int classes();

  /**
   * The same network, its parameters included, as a graph without branches and loops: for formats
   * that have none.
   */
  default Network withoutControlFlow() {
    return this;
  }

  /**
   * Builds the network.
   *
   * @param layers makes parameters, in the same order each time
   * @param features {@code [examples, ..example]}
   * @return logits {@code [examples * positions, classes]}
   */
  Node logits(Layers layers, Node features);
}
