package dev.kastor.traces.format;

import dev.kastor.traces.TraceException;
import dev.kastor.traces.TraceRow;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;

/**
 * Times as cluster logs write them, {@code 2017-10-07 01:11:39}: local, without an offset. Clocks
 * that were set back or forth in between show as they do in the log.
 */
final class LogTime {
  private static final DateTimeFormatter FORMAT =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT);

  private LogTime() {}

  /** The same of a time such as {@code 2026-03-01T12:00:00}, or of seconds since 1970. */
  static double isoSeconds(String text, String column, TraceRow where) throws TraceException {
    try {
      return text.matches("\\d{1,12}")
          ? Long.parseLong(text)
          : LocalDateTime.parse(text).toEpochSecond(ZoneOffset.UTC);
    } catch (DateTimeParseException e) {
      throw where.problem(column, "'%s' is not a time such as 2026-03-01T12:00:00".formatted(text));
    }
  }

  /** Seconds from an arbitrary origin, the same for all. */
  static double seconds(String text, String column, TraceRow where) throws TraceException {
    try {
      return LocalDateTime.parse(text, FORMAT).toEpochSecond(ZoneOffset.UTC);
    } catch (DateTimeParseException e) {
      throw where.problem(column, "'%s' is not a time such as 2017-10-07 01:11:39".formatted(text));
    }
  }
}
