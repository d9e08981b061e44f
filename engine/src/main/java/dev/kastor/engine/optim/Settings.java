package dev.kastor.engine.optim;

import dev.kastor.plugin.Option;

/** Options and range checks that optimizers share. */
final class Settings {
  static final Option<Double> MOMENTUM =
      Option.number("momentum", 0.9, "share of the last direction that is kept")
          .where(value -> value >= 0 && value < 1, "of at least 0 and below 1");

  static final Option<Double> WEIGHT_DECAY =
      Option.number("weightDecay", 0.0001, "share by which a parameter shrinks at rate 1")
          .where(value -> value >= 0 && value < 1, "of at least 0 and below 1");

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
