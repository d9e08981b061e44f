package dev.kastor.engine.graph;

import java.util.List;

/** What a node computes from its inputs; a value, equal to any other with the same attributes. */
public sealed interface Op permits Primitive, Fused {
  /**
   * The type of the result.
   *
   * @throws ShapeException if the inputs do not fit; the message names op and shapes
   */
  Type infer(List<Type> inputs);

  /** The name in messages. */
  default String name() {
    return getClass().getSimpleName();
  }
}
