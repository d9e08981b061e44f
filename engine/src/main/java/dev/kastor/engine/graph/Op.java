package dev.kastor.engine.graph;

import java.util.List;

/**
 * What a node does with its inputs; pure ops and control flow are values, effects have identity.
 */
public sealed interface Op permits Pure, Effect, Control {
  /**
   * The types of the results.
   *
   * @throws ShapeException if the inputs do not fit; the message names op and shapes
   */
  List<Type> results(List<Type> inputs);

  /** The name in messages. */
  default String name() {
    return getClass().getSimpleName();
  }
}
