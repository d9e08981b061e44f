package dev.kastor.bench;

/** Why a measurement cannot be made; the message says what to do about it. */
public final class BenchException extends Exception {
  private static final long serialVersionUID = 1;

  public BenchException(String message) {
    super(message);
  }
}
