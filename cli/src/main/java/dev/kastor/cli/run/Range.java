package dev.kastor.cli.run;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;

/**
 * Range of whole numbers as people write it: {@code 4} or {@code 1-4}.
 *
 * @param min the least
 * @param max the most
 */
record Range(int min, int max) {
  /** The range of a text that an option was given. */
  static Range of(String option, String text) {
    if (text.matches("[0-9]{1,8}(-[0-9]{1,8})?")) {
      String[] ends = text.split("-", 2);
      Range range = new Range(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
      if (range.min >= 1 && range.min <= range.max) {
        return range;
      }
    }
    throw new CliException(
        ExitCode.USAGE,
        "%s: '%s' must be a number such as 4, or a range such as 1-4".formatted(option, text));
  }

  boolean fixed() {
    return min == max;
  }
}
