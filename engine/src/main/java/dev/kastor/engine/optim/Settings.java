package dev.kastor.engine.optim;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.plugin.Option;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/** Options and range checks that optimizers share. */
final class Settings {
  static final Option<Double> MOMENTUM =
      Option.number("momentum", 0.9, "share of the last direction that is kept")
          .where(value -> value >= 0 && value < 1, "of at least 0 and below 1");

  static final Option<Double> WEIGHT_DECAY =
      Option.number("weightDecay", 0.0001, "share by which a parameter shrinks at rate 1")
          .where(value -> value >= 0 && value < 1, "of at least 0 and below 1");

  static final Option<Double> BETA2 =
      Option.number("beta2", 0.999, "decay of the second moment")
          .where(value -> value >= 0 && value < 1, "of at least 0 and below 1");

  private Settings() {}

  static Option<Double> epsilon(double usual) {
    return Option.number("epsilon", usual, "number added to the root of the second moment")
        .where(value -> value > 0 && value < 1, "above 0 and below 1");
  }

  /** Vectors with a value for each parameter. */
  static SequencedMap<String, Integer> slots(Layout layout, String... names) {
    SequencedMap<String, Integer> slots = new LinkedHashMap<>();
    for (String name : names) {
      slots.put(name, layout.elements());
    }
    return slots;
  }

  /**
   * Whether a tensor has a rate of its own and decays: matrices and kernels do, vectors such as
   * biases and scales of normalisation do not.
   */
  static boolean isAdapted(Layout.Entry entry) {
    return entry.shape().rank() > 1;
  }

  /** The Euclidean norm of a tensor within a vector. */
  static double norm(float[] vector, Layout.Entry entry) {
    double sum = 0;
    for (int i = entry.offset(); i < entry.end(); i++) {
      sum += (double) vector[i] * vector[i];
    }
    return Math.sqrt(sum);
  }

  static void checkMomentum(double value) {
    if (!(value >= 0 && value < 1)) {
      throw new IllegalArgumentException(
          "momentum must be at least 0 and below 1 but is %s.".formatted(value));
    }
  }

  static void checkEpsilon(double value) {
    if (!(value > 0)) {
      throw new IllegalArgumentException("epsilon must be above 0 but is %s.".formatted(value));
    }
  }

  static void checkWeightDecay(double value) {
    if (!(value >= 0 && value < 1)) {
      throw new IllegalArgumentException(
          "weightDecay must be at least 0 and below 1 but is %s.".formatted(value));
    }
  }
}
