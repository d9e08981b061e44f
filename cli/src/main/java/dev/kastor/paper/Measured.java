package dev.kastor.paper;

/**
 * Figure that was measured for a claim.
 *
 * @param value what the verdict is on
 * @param low lower end of its interval; not a number where there is none
 * @param high upper end, likewise
 * @param over what the interval is of, such as {@code 95 %, six workloads, seed 1}
 */
public record Measured(double value, double low, double high, String over) {
  /** A figure without an interval. */
  public static Measured single(double value, String over) {
    return new Measured(value, Double.NaN, Double.NaN, over);
  }
}
