package dev.kastor.traces;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
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

  /** What to do with a row. */
  @FunctionalInterface
  public interface Reader {
    void row(CsvRow row) throws TraceException;
  }

  /** All rows; the header must have at least {@code columns}, in any order. */
  public static List<CsvRow> readAtLeast(Path file, List<String> columns) throws TraceException {
    List<CsvRow> rows = new ArrayList<>();
    forEach(file, columns, rows::add);
    return rows;
  }

  /**
   * Hands over one row after another, so that a long file needs no memory; the header must have at
   * least {@code columns}, in any order. Lines that start with # are comments.
   */
  public static void forEach(Path file, List<String> columns, Reader reader) throws TraceException {
    CSVFormat format =
        CSVFormat.RFC4180
            .builder()
            .setHeader()
            .setSkipHeaderRecord(true)
            .setCommentMarker('#')
            .setIgnoreEmptyLines(true)
            .setIgnoreSurroundingSpaces(true)
            .get();
    try (BufferedReader text = TraceInput.open(file);
        CSVParser parser = CSVParser.parse(text, format)) {
      List<String> header = parser.getHeaderNames();
      List<String> missing = columns.stream().filter(c -> !header.contains(c)).toList();
      if (!missing.isEmpty()) {
        throw new TraceException(
            header.isEmpty()
                ? "%s is empty. Its first line must name the columns %s"
                    .formatted(file, String.join(",", columns))
                : "%s, line %d: the header has no column %s. It must have %s but is %s"
                    .formatted(
                        file,
                        parser.getCurrentLineNumber(),
                        String.join(",", missing),
                        String.join(",", columns),
                        String.join(",", header)));
      }
      for (CSVRecord record : parser) {
        CsvRow row = new CsvRow(file, parser.getCurrentLineNumber(), record);
        if (!record.isConsistent()) {
          throw row.problem("", "it has %d cells, not %d".formatted(record.size(), header.size()));
        }
        reader.row(row);
      }
    } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
      throw new TraceException("%s cannot be read: %s".formatted(file, e.getMessage()), e);
    }
  }

  /** Whether the file has this column. */
  public boolean has(String column) {
    return record.isMapped(column);
  }

  /** Whether the cell is empty or the file has no such column. */
  public boolean isBlank(String column) {
    return !record.isMapped(column) || record.get(column).isBlank();
  }

  /** The cell's text; {@code otherwise} if it is blank or the file has no such column. */
  public String textOr(String column, String otherwise) {
    return isBlank(column) ? otherwise : record.get(column);
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
