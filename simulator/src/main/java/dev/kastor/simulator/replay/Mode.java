package dev.kastor.simulator.replay;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Whose rules of time a replay follows. */
public enum Mode {
  /** Pollux's published simulator (OSDI 2021), tick for tick. */
  POLLUX,

  /** Sia's published simulator (SOSP 2023), tick for tick. */
  SIA,

  /** Kastor's own: decisions at arrivals, completions and reports, with live rescale. */
  EVENTS;

  /** As the command line spells it. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** All labels. */
  public static List<String> labels() {
    return Arrays.stream(values()).map(Mode::label).toList();
  }

  /**
   * The mode of a label.
   *
   * @throws IllegalArgumentException if there is none; the message lists all
   */
  public static Mode of(String label) {
    for (Mode mode : values()) {
      if (mode.label().equals(label)) {
        return mode;
      }
    }
    throw new IllegalArgumentException(
        "there is no mode '%s'. Use one of: %s".formatted(label, String.join(", ", labels())));
  }
}
