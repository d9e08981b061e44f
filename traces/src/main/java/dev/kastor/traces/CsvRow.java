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
public final class CsvRow implements TraceRow {
  private static final CSVFormat FORMAT =
      CSVFormat.RFC4180
          .builder()
          .setCommentMarker('#')
          .setIgnoreEmptyLines(true)
          .setIgnoreSurroundingSpaces(true)
          .get();

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
    forEach(file, columns, FORMAT.builder().setHeader().setSkipHeaderRecord(true).get(), reader);
  }

  /** The same for a file whose first line is a row already, or repeats {@code columns}. */
  public static void forEachWithoutHeader(Path file, List<String> columns, Reader reader)
      throws TraceException {
    CSVFormat format = FORMAT.builder().setHeader(columns.toArray(String[]::new)).get();
    String first = columns.getFirst();
    forEach(
        file,
        columns,
        format,
        row -> {
          if (!row.textOr(first, "").equals(first)) {
            reader.row(row);
          }
        });
  }

  private static void forEach(Path file, List<String> columns, CSVFormat format, Reader reader)
      throws TraceException {
    try (BufferedReader text = TraceInput.open(file);
        CSVParser parser = CSVParser.parse(text, format)) {
      checkHeader(file, parser.getCurrentLineNumber(), parser.getHeaderNames(), columns);
      for (CSVRecord record : parser) {
        CsvRow row = new CsvRow(file, parser.getCurrentLineNumber(), record);
        if (!record.isConsistent()) {
          throw row.problem(
              "",
              "it has %d cells, not %d".formatted(record.size(), parser.getHeaderNames().size()));
        }
        reader.row(row);
      }
    } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
      throw TraceException.unreadable(file, e);
    }
  }

  private static void checkHeader(Path file, long line, List<String> header, List<String> columns)
      throws TraceException {
    if (header.isEmpty()) {
      throw new TraceException(
          "%s is empty. Its first line must name the columns %s"
              .formatted(file, String.join(",", columns)));
    }
    List<String> missing = columns.stream().filter(c -> !header.contains(c)).toList();
    if (!missing.isEmpty()) {
      throw new TraceException(
          "%s, line %d: the header has no column %s. It must have %s but is %s"
              .formatted(
                  file,
                  line,
                  String.join(",", missing),
                  String.join(",", columns),
                  String.join(",", header)));
    }
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

  /** A whole number of either sign. */
  public int whole(String column) throws TraceException {
    try {
      return Integer.parseInt(text(column));
    } catch (NumberFormatException e) {
      throw problem(column, "'%s' is not a whole number".formatted(record.get(column)));
    }
  }

  public int positive(String column) throws TraceException {
    int value = whole(column);
    if (value >= 1) {
      return value;
    }
    throw problem(column, "'%s' must be at least 1".formatted(record.get(column)));
  }

  /** A whole number of at least 0; logs may write it with a fraction of zero. */
  public int count(String column) throws TraceException {
    double value = atLeast(column, 0);
    if (value != Math.rint(value) || value > Integer.MAX_VALUE) {
      throw problem(column, "'%s' is not a whole number".formatted(record.get(column)));
    }
    return (int) value;
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

  @Override
  public TraceException problem(String column, String what) {
    return new TraceException(
        column.isEmpty()
            ? "%s, line %d: %s".formatted(file, line, what)
            : "%s, line %d, column %s: %s".formatted(file, line, column, what));
  }
}
