package dev.kastor.agent.pace;

import java.util.List;

/**
 * Pace of an accelerator: the time that a pass of a program takes on it.
 *
 * @param passSeconds of a pass without examples
 * @param exampleSeconds that each example adds
 */
public record Pace(double passSeconds, double exampleSeconds) {
  private static final double NANOS = 1e9;

  public Pace {
    if (!(passSeconds >= 0 && exampleSeconds >= 0 && passSeconds + exampleSeconds < 3600)) {
      throw new IllegalArgumentException(
          "it must be two numbers of seconds from 0 on, of a pass and of each example, that are below an hour together, such as 0.008 0.0026");
    }
  }

  /**
   * Reads both numbers of seconds, with a space between them.
   *
   * @throws IllegalArgumentException if they are not that
   */
  public static Pace parse(String text) {
    List<String> words = List.of(text.strip().split("\\s+"));
    double pass = Double.NaN;
    double example = Double.NaN;
    try {
      if (words.size() == 2) {
        pass = Double.parseDouble(words.get(0));
        example = Double.parseDouble(words.get(1));
      }
    } catch (NumberFormatException e) {
      // What is no number fails below.
    }
    return new Pace(pass, example);
  }

  /** Nanoseconds of a pass. */
  long nanos(int examples) {
    return Math.round(NANOS * (passSeconds + exampleSeconds * examples));
  }

  /** The form that {@link #parse} reads. */
  @Override
  public String toString() {
    return passSeconds + " " + exampleSeconds;
  }
}
