package dev.kastor.cli.report;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.TypeConversionException;

/** Beginning of a report: a day, or how long ago it is. */
record ReportSince(String text) {
  private static final Pattern AGO = Pattern.compile("([1-9][0-9]{0,4})([hdw])");

  /**
   * The day in UTC: that of the hour so long ago.
   *
   * @throws TypeConversionException if the text is neither a day nor a time
   */
  LocalDate day(Instant now) {
    Matcher ago = AGO.matcher(text);
    if (ago.matches()) {
      long count = Long.parseLong(ago.group(1));
      Duration time =
          switch (ago.group(2)) {
            case "h" -> Duration.ofHours(count);
            case "d" -> Duration.ofDays(count);
            default -> Duration.ofDays(7 * count);
          };
      return LocalDate.ofInstant(now.minus(time), ZoneOffset.UTC);
    }
    try {
      return LocalDate.parse(text);
    } catch (DateTimeException e) {
      throw new TypeConversionException(
          "expected a time such as 24h, 7d or 4w, or a day such as 2026-01-31, but was '%s'"
              .formatted(text));
    }
  }
}
