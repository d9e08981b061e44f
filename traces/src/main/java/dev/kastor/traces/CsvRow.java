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
public final class CsvRow {
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
    return read(file, columns, true);
  }

  /** All rows; the header must have at least {@code columns}, in any order. */
  public static List<CsvRow> readAtLeast(Path file, List<String> columns) throws TraceException {
    return read(file, columns, false);
  }

  private static List<CsvRow> read(Path file, List<String> columns, boolean exactly)
      throws TraceException {
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
      List<String> header = parser.getHeaderNames();
      if (exactly ? !header.equals(columns) : !header.containsAll(columns)) {
        throw new TraceException(
            "%s, line 1: the header must %s %s but is %s"
                .formatted(
                    file,
                    exactly ? "be" : "have the columns",
                    String.join(",", columns),
                    String.join(",", header)));
      }
      for (CSVRecord record : parser) {
        CsvRow row = new CsvRow(file, parser.getCurrentLineNumber(), record);
        if (!record.isConsistent()) {
          throw row.problem("", "it has %d cells, not %d".formatted(record.size(), header.size()));
        }
        rows.add(row);
      }
      return rows;
    } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
      throw new TraceException("%s cannot be read: %s".formatted(file, e.getMessage()), e);
    }
  }

  /** Whether the file has this column. */
  public boolean has(String column) {
    return record.isMapped(column);
  }

  /** The cell's text, which must not be blank. */
  public String text(String column) throws TraceException {
    if (!record.isMapped(column)) {
      throw problem(column, "the file has no such column");
    }
    String value = record.get(column);
    if (value.isBlank()) {
      throw problem(column, "it is empty");
    }
    return value;
  }

  public int positive(String column) throws TraceException {
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

  public double atLeast(String column, double bound) throws TraceException {
    double value = number(column, text(column));
    if (!(value >= bound)) {
      throw problem(column, "'%s' must be at least %s".formatted(record.get(column), bound));
    }
    return value;
  }

  public double number(String column, String text) throws TraceException {
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

  public TraceException problem(String column, String what) {
    return new TraceException(
        column.isEmpty()
            ? "%s, line %d: %s".formatted(file, line, what)
            : "%s, line %d, column %s: %s".formatted(file, line, column, what));
  }
}
