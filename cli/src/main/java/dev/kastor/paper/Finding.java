package dev.kastor.paper;

/**
 * Claim with our figure.
 *
 * @param claim has a threshold
 */
public record Finding(Claim claim, Measured ours) {
  public Finding {
    if (claim.threshold().isEmpty()) {
      throw new IllegalArgumentException("a claim without a threshold: " + claim.sentence());
    }
  }

  /** The limits of the figure. */
  public Threshold threshold() {
    return claim.threshold().orElseThrow();
  }

  /** Verdict on the claim by its threshold. */
  public Verdict verdict() {
    return threshold().verdict(ours.value());
  }
}
