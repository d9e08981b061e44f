package dev.kastor.paper;

import java.util.Locale;

/**
 * Limits between the verdicts, written down before the run that they judge.
 *
 * @param quantity what is measured, with its unit
 * @param refutedBelow a smaller value refutes the claim
 * @param from least value that reproduces it
 * @param to largest value that reproduces it
 * @param refutedAbove a larger value refutes the claim
 */
public record Threshold(
    String quantity, double refutedBelow, double from, double to, double refutedAbove) {
  public Threshold {
    if (!(refutedBelow <= from && from <= to && to <= refutedAbove)
        || (Double.isInfinite(from) && Double.isInfinite(to))) {
      throw new IllegalArgumentException(
          "%s: the limits %s, %s, %s, %s must rise, and one of the middle two must be finite"
              .formatted(quantity, refutedBelow, from, to, refutedAbove));
    }
  }

  /** The larger the better. */
  public static Threshold atLeast(String quantity, double reproduced, double refutedBelow) {
    return new Threshold(
        quantity, refutedBelow, reproduced, Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY);
  }

  /** The smaller the better. */
  public static Threshold atMost(String quantity, double reproduced, double refutedAbove) {
    return new Threshold(
        quantity, Double.NEGATIVE_INFINITY, Double.NEGATIVE_INFINITY, reproduced, refutedAbove);
  }

  /** What a value says of the claim. */
  public Verdict verdict(double value) {
    if (value >= from && value <= to) {
      return Verdict.REPRODUCED;
    }
    // What is no number bears nothing out.
    return value >= refutedBelow && value <= refutedAbove ? Verdict.PARTLY : Verdict.REFUTED;
  }

  /** The values that reproduce the claim, such as {@code ≥ 1.5} or {@code 0.95 to 1.05}. */
  public String reproduced() {
    if (Double.isInfinite(to)) {
      return "≥ " + number(from);
    }
    return Double.isInfinite(from) ? "≤ " + number(to) : number(from) + " to " + number(to);
  }

  /** The values that refute it. */
  public String refuted() {
    if (Double.isInfinite(refutedAbove)) {
      return "< " + number(refutedBelow);
    }
    return Double.isInfinite(refutedBelow)
        ? "> " + number(refutedAbove)
        : "< %s, > %s".formatted(number(refutedBelow), number(refutedAbove));
  }

  private static String number(double value) {
    return value == Math.rint(value)
        ? String.format(Locale.ROOT, "%.0f", value)
        : Double.toString(value);
  }
}
