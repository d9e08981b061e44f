package dev.kastor.text;

import java.time.Duration;

/** Durations with their two largest units, such as {@code 45s}, {@code 12m30s} and {@code 3d4h}. */
public final class DurationText {
  private static final int MINUTE = 60;
  private static final int HOUR = 3600;
  private static final int DAY = 86_400;

  private DurationText() {}

  /** The text of a duration. */
  public static String of(Duration duration) {
    long seconds = duration.toSeconds();
    if (seconds < 2 * MINUTE) {
      return seconds + "s";
    }
    if (seconds < 2 * HOUR) {
      return seconds / MINUTE + "m" + two(seconds % MINUTE) + "s";
    }
    return seconds < 2 * DAY
        ? seconds / HOUR + "h" + two(seconds % HOUR / MINUTE) + "m"
        : seconds / DAY + "d" + seconds % DAY / HOUR + "h";
  }

  private static String two(long number) {
    return number < 10 ? "0" + number : Long.toString(number);
  }
}
