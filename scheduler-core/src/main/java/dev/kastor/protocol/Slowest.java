package dev.kastor.protocol;

/**
 * The member of a ring that computed slowest since the last report: the others waited for it.
 *
 * @param pod its pod's name
 * @param passSeconds its mean time of a forward-backward pass
 * @param othersSeconds the median of the others' mean times
 */
public record Slowest(String pod, double passSeconds, double othersSeconds) {
  public Slowest {
    Check.nonNegative("slowest.passSeconds", passSeconds);
    Check.nonNegative("slowest.othersSeconds", othersSeconds);
  }

  /** How many times longer than the others it took; 1 where nothing was measured. */
  public double slowdown() {
    return othersSeconds > 0 ? passSeconds / othersSeconds : 1;
  }
}
