package dev.kastor.cli.terminal;

import dev.kastor.text.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Numbers and times as people read them. */
public final class Format {
  private static final double LARGE = 1e9;
  private static final double SMALL = 1e-3;

  private Format() {}

  public static String duration(Duration duration) {
    return DurationText.of(duration);
  }

  /** Seconds with one decimal. */
  public static String seconds(double seconds) {
    return String.format(Locale.ROOT, "%.1f s", seconds);
  }

  /**
   * Up to four significant digits, very large and very small ones with a power of ten; a dash for
   * nothing.
   */
  public static String number(@Nullable Double value) {
    if (value == null || !Double.isFinite(value)) {
      return "-";
    }
    double magnitude = Math.abs(value);
    if (magnitude >= LARGE || (magnitude > 0 && magnitude < SMALL)) {
      return String.format(Locale.ROOT, "%.2e", value);
    }
    String pattern = magnitude >= 100 ? "%.0f" : magnitude >= 10 ? "%.1f" : "%.3f";
    return String.format(Locale.ROOT, pattern, value);
  }

  public static Optional<Instant> instant(@Nullable String text) {
    if (text == null || text.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(Instant.parse(text));
    } catch (DateTimeParseException e) {
      return Optional.empty();
    }
  }

  /** The time from one instant to another, or a dash if one is unknown. */
  public static String between(Optional<Instant> from, Optional<Instant> to) {
    if (from.isEmpty() || to.isEmpty()) {
      return "-";
    }
    Duration duration = Duration.between(from.get(), to.get());
    return duration(duration.isNegative() ? Duration.ZERO : duration);
  }
}
