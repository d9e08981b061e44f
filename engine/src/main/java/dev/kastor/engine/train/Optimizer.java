package dev.kastor.engine.train;

/** Turns a gradient into an update of a flat parameter vector; deterministic to the bit. */
public interface Optimizer {
  /** Its name, such as {@code sgd} or {@code adam}. */
  String name();

  /** Length of its state for a parameter vector of this length; the state starts as zeros. */
  int stateLength(int parameters);

  /**
   * Updates parameters and state in place.
   *
   * @param gradient mean gradient over the global batch
   * @param step optimizer steps applied before this one
   */
  void apply(float[] parameters, float[] gradient, float[] state, double learningRate, long step);
}
