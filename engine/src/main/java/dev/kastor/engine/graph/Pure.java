package dev.kastor.engine.graph;

import java.util.List;

/**
 * An op with one result that its inputs alone decide: it may be merged with its like, computed
 * early, twice or not at all.
 */
public sealed interface Pure extends Op permits Primitive, Fused {
  /**
   * The type of the result.
   *
   * @throws ShapeException if the inputs do not fit; the message names op and shapes
   */
  Type infer(List<Type> inputs);

  @Override
  default List<Type> results(List<Type> inputs) {
    return List.of(infer(inputs));
  }
}
