package dev.kastor.engine.graph;

import java.util.List;

/** An op was given inputs whose shapes or types do not fit. */
public final class ShapeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  /**
   * @param op the op that refused
   * @param rule what it needs
   * @param inputs what it was given
   */
  public ShapeException(Op op, String rule, List<Type> inputs) {
    super("%s needs %s, got %s.".formatted(op, rule, inputs));
  }
}
