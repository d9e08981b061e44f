package dev.kastor.protocol;

/** Range checks for wire records: each message names the field, the rule and the value. */
final class Check {
  /** More steps or examples than any run makes; as a double it is still exact. */
  static final long MOST_COUNTED = 1L << 52;

  /** The same where fractions count. */
  static final double MOST_MEASURED = 0x1p52;

  /** Some thirty years. */
  static final double MOST_SECONDS = 1e9;

  private Check() {}

  static void atLeast(String field, long value, long bound) {
    if (value < bound) {
      throw new IllegalArgumentException(
          "%s must be at least %d but is %d".formatted(field, bound, value));
    }
  }

  static void between(String field, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s must be from %d to %d but is %d".formatted(field, least, most, value));
    }
  }

  /**
   * Refuses what no training run can reach: sums and products of accepted values stay finite, so
   * that no report can upset the arithmetic behind decisions on other jobs.
   */
  static void atMost(String field, double value, double most) {
    nonNegative(field, value);
    if (value > most) {
      throw new IllegalArgumentException(
          "%s must be at most %s but is %s".formatted(field, most, value));
    }
  }

  static void nonNegative(String field, double value) {
    if (!(value >= 0) || Double.isInfinite(value)) {
      throw new IllegalArgumentException(
          "%s must be finite and not negative but is %s".formatted(field, value));
    }
  }

  static void finite(String field, double value) {
    if (!Double.isFinite(value)) {
      throw new IllegalArgumentException("%s must be finite but is %s".formatted(field, value));
    }
  }

  static void atMostChars(String field, String value, int bound) {
    if (value.length() > bound) {
      throw new IllegalArgumentException(
          "%s may have at most %d characters but has %d".formatted(field, bound, value.length()));
    }
  }
}
