package dev.kastor.protocol;

/** Range checks for wire records: each message names the field, the rule and the value. */
final class Check {
  private Check() {}

  static void atLeast(String field, long value, long bound) {
    if (value < bound) {
      throw new IllegalArgumentException(
          "%s must be at least %d but is %d".formatted(field, bound, value));
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
