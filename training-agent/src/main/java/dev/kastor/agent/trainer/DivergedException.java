package dev.kastor.agent.trainer;

/** The gradient is not finite on all replicas alike: training on is of no use. */
public final class DivergedException extends Exception {
  private static final long serialVersionUID = 1;

  public DivergedException(String message) {
    super(message);
  }
}
