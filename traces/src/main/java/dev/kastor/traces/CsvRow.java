package dev.kastor.traces;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** One line of a CSV file with a header, whose cells know where they stand. */
final class CsvRow {
  private final Path file;
  private final long line;
  private final CSVRecord record;

  private CsvRow(Path file, long line, CSVRecord record) {
    this.file = file;
    this.line = line;
    this.record = record;
  }

  /** All rows; the header must be exactly {@code columns}. Lines that start with # are comments. */
  static List<CsvRow> read(Path file, List<String> columns) throws TraceException {
    CSVFormat format =
        CSVFormat.RFC4180
            .builder()
            .setHeader()
            .setSkipHeaderRecord(true)
            .setCommentMarker('#')
            .setIgnoreEmptyLines(true)
            .setIgnoreSurroundingSpaces(true)
            .get();
    List<CsvRow> rows = new ArrayList<>();
    try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8);
        CSVParser parser = CSVParser.parse(reader, format)) {
      if (!parser.getHeaderNames().equals(columns)) {
        throw new TraceException(
            "%s: the header must be %s but is %s"
                .formatted(file, String.join(",", columns), parser.getHeaderNames()));
      }
      for (CSVRecord record : parser) {
        CsvRow row = new CsvRow(file, parser.getCurrentLineNumber(), record);
        if (!record.isConsistent()) {
          throw row.problem("", "it has %d cells, not %d".formatted(record.size(), columns.size()));
        }
        rows.add(row);
      }
      return rows;
    } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
      throw new TraceException("%s cannot be read: %s".formatted(file, e.getMessage()), e);
    }
  }

  String text(String column) throws TraceException {
    String value = record.get(column);
    if (value.isBlank()) {
      throw problem(column, "it is empty");
    }
    return value;
  }

  int positive(String column) throws TraceException {
    try {
      int value = Integer.parseInt(text(column));
      if (value >= 1) {
        return value;
      }
    } catch (NumberFormatException e) {
      throw problem(column, "'%s' is not a whole number".formatted(record.get(column)));
    }
    throw problem(column, "'%s' must be at least 1".formatted(record.get(column)));
  }

  double atLeast(String column, double bound) throws TraceException {
    double value = number(column, text(column));
    if (!(value >= bound)) {
      throw problem(column, "'%s' must be at least %s".formatted(record.get(column), bound));
    }
    return value;
  }

  double number(String column, String text) throws TraceException {
    try {
      double value = Double.parseDouble(text);
      if (Double.isFinite(value)) {
        return value;
      }
    } catch (NumberFormatException e) {
      throw problem(column, "'%s' is not a number".formatted(text));
    }
    throw problem(column, "'%s' is not finite".formatted(text));
  }

  TraceException problem(String column, String what) {
    return new TraceException(
        column.isEmpty()
            ? "%s, line %d: %s".formatted(file, line, what)
            : "%s, line %d, column %s: %s".formatted(file, line, column, what));
  }
}
