package dev.kastor.training;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Drift of replicas: what is done where states that should be equal are not. */
public enum Drift {
  /** All take the state of one replica, until they differ again and again. */
  REPAIR,
  /** The job ends. */
  FAIL;

  /** The one that a spec chooses; {@link #REPAIR} where it chooses none. */
  static Drift parse(@Nullable Object given) {
    if (given == null) {
      return REPAIR;
    }
    for (Drift drift : values()) {
      if (drift.name().toLowerCase(Locale.ROOT).equals(given)) {
        return drift;
      }
    }
    throw new IllegalArgumentException(
        "training.drift must be repair or fail but is '%s'".formatted(given));
  }
}
