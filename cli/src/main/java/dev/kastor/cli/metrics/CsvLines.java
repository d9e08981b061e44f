package dev.kastor.cli.metrics;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/** Comma-separated values: time, step, name and value of one point in a line. */
final class CsvLines implements LineCodec {
  private static final String HEAD = "time,step,name,value";
  private static final int COLUMNS = 4;

  @Override
  public String ending() {
    return ".csv";
  }

  @Override
  public String head() {
    return HEAD;
  }

  @Override
  public String line(Point point) {
    // Names have no comma, quote or break.
    return "%s,%d,%s,%s"
        .formatted(
            Instant.ofEpochMilli(point.epochMillis()), point.step(), point.name(), point.value());
  }

  @Override
  public @Nullable Point point(String line) {
    String[] cells = line.split(",", -1);
    if (cells.length != COLUMNS) {
      return null;
    }
    try {
      return new Point(
          cells[2],
          Instant.parse(cells[0]).toEpochMilli(),
          Long.parseLong(cells[1]),
          Double.parseDouble(cells[3]));
    } catch (DateTimeParseException | NumberFormatException e) {
      return null;
    }
  }
}
