package dev.kastor.engine.graph;

/**
 * An op that reads or changes something outside the graph, such as a value on its way to another
 * device.
 *
 * <p>Each of its nodes takes place exactly once in a run that needs it (once in an iteration,
 * inside a loop), after its inputs and what it comes {@linkplain Node#after() after}. It has no
 * gradient: what it gives is a variable to those who differentiate.
 */
public non-sealed interface Effect extends Op {
  /**
   * How many effects, increments and control flow come before it at least, some of them perhaps
   * elsewhere. What has fewer before it is never held up until this has taken place.
   */
  default int depth() {
    return 0;
  }
}
