package dev.kastor.engine.optim;

/** Range checks that optimizers share. */
final class Settings {
  private Settings() {}

  static void checkMomentum(double value) {
    if (!(value >= 0 && value < 1)) {
      throw new IllegalArgumentException(
          "momentum must be at least 0 and below 1 but is %s.".formatted(value));
    }
  }

  static void checkWeightDecay(double value) {
    if (!(value >= 0 && value < 1)) {
      throw new IllegalArgumentException(
          "weightDecay must be at least 0 and below 1 but is %s.".formatted(value));
    }
  }
}
