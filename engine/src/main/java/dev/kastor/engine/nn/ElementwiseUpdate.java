package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * Update of parameters by a gradient as a graph, element by element, for devices that keep both.
 *
 * <p>Its nodes are elementwise ops alone, as results take the place of what they are computed from.
 */
public interface ElementwiseUpdate {
  /**
   * Numbers of a step, which the graph has as inputs; always as many.
   *
   * @param step steps applied before it
   */
  float[] numbers(double learningRate, long step);

  /**
   * Parameters and state after a step.
   *
   * @param before of any shape, the same for all
   * @param numbers of {@link #numbers}, without axes
   */
  Vectors update(Vectors before, Node gradient, List<Node> numbers);

  /**
   * Parameters and the optimizer's vectors.
   *
   * @param slots by name
   */
  record Vectors(Node parameters, SequencedMap<String, Node> slots) {
    public Vectors {
      slots = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(slots));
    }

    /** The vector of this name. */
    public Node slot(String name) {
      Node slot = slots.get(name);
      if (slot == null) {
        throw new IllegalArgumentException("No slot '%s' but %s".formatted(name, slots.keySet()));
      }
      return slot;
    }
  }
}
