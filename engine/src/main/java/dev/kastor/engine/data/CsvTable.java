package dev.kastor.engine.data;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/**
 * The labels of a CSV file with a header, one column of labels and others; what the others are is
 * for a {@link Reader} to find out.
 *
 * @param columns names of the others
 * @param labels classes, one for each row
 * @param names names of the classes
 */
@SuppressWarnings("ArrayRecordComponent") // shared bulk data, never compared
record CsvTable(List<String> columns, int[] labels, List<String> names) {
  private static final CSVFormat FORMAT =
      CSVFormat.RFC4180
          .builder()
          .setHeader()
          .setSkipHeaderRecord(true)
          .setIgnoreEmptyLines(true)
          .setTrim(true)
          .get();

  /** More labels than this are taken for a wrong column. */
  private static final int MAX_CLASSES = 1000;

  /** Of a file up to this size all is looked at in milliseconds. */
  private static final int SMALL_BYTES = 1 << 20;

  /** So many rows at most are looked at of a larger file. */
  private static final int FIRST_ROWS = 100;

  private static final int LONGEST_QUOTED = 40;
  private static final int BYTE_ORDER_MARK = 0xFEFF;
  private static final int LONGEST_HEADER = 1 << 16;

  /** Takes in the fields of a row. */
  interface Reader {
    /**
     * One row.
     *
     * @param number of the row, the first 1
     * @param fields those of the columns without labels
     */
    void row(long number, List<String> columns, List<String> fields) throws DataException;
  }

  /**
   * Reads a file. Labels may be any text; classes are numbered in their order, as numbers where all
   * are whole numbers.
   *
   * @param holdOutEvery at least 2: fewer rows are too few
   */
  static CsvTable read(Path file, String labelColumn, int holdOutEvery, Reader reader)
      throws DataException {
    if (holdOutEvery < 2) {
      throw new IllegalArgumentException(
          "holdOutEvery must be at least 2 but is %d.".formatted(holdOutEvery));
    }
    TableKind.refuse(file);
    List<String> labels = new ArrayList<>();
    List<String> others;
    try (InputStream in = Files.newInputStream(file)) {
      others = rows(file, in, labelColumn, labels, reader, Long.MAX_VALUE);
    } catch (IOException e) {
      throw new DataException(file, e);
    }
    if (labels.size() < holdOutEvery) {
      throw new DataException(
          file, "%d rows are too few to hold out one in %d".formatted(labels.size(), holdOutEvery));
    }
    Map<String, Integer> numbers = classes(file, labels, labelColumn);
    return new CsvTable(
        others,
        labels.stream().mapToInt(label -> numbers.getOrDefault(label, 0)).toArray(),
        names(numbers));
  }

  /** The first text of each number. */
  private static List<String> names(Map<String, Integer> numbers) {
    List<String> names = new ArrayList<>();
    numbers.forEach((label, number) -> {
      if (number == names.size()) {
        names.add(label);
      }
    });
    return names;
  }

  /** How many classes there are. */
  int classes() {
    return names.size();
  }

  /**
   * Looks at the beginning of a file, or at all of one that is small.
   *
   * @param reader takes in the first rows
   * @return the columns without labels, and how many training rows there can be at most
   */
  static Beginning begin(Path file, String labelColumn, int holdOutEvery, Reader reader)
      throws DataException {
    long bytes = DataFile.size(file);
    if (bytes <= SMALL_BYTES) {
      CsvTable all = read(file, labelColumn, holdOutEvery, reader);
      return new Beginning(all.columns, all.rows(holdOutEvery, false).length);
    }
    TableKind.refuse(file);
    try (InputStream in = Files.newInputStream(file)) {
      byte[] first = in.readNBytes(SMALL_BYTES);
      int whole = first.length;
      while (whole > 0 && first[whole - 1] != '\n') {
        whole--;
      }
      InputStream lines = new ByteArrayInputStream(first, 0, whole);
      List<String> others = rows(file, lines, labelColumn, new ArrayList<>(), reader, FIRST_ROWS);
      // A row has a separator or its end after each field, and a label.
      long rows = bytes / (others.size() + 2);
      return new Beginning(others, rows - rows / holdOutEvery);
    } catch (IOException e) {
      throw new DataException(file, e);
    }
  }

  /**
   * Beginning of a file, as far as it was read.
   *
   * @param columns names of the columns without labels
   * @param mostTraining the most training rows that the file can hold
   */
  record Beginning(List<String> columns, long mostTraining) {}

  /** Reads rows, at most so many, and adds their labels; returns the names of other columns. */
  private static List<String> rows(
      Path file, InputStream in, String labelColumn, List<String> labels, Reader reader, long most)
      throws DataException {
    List<String> others = List.of();
    try (BufferedReader text =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        CSVParser parser = CSVParser.parse(text, formatOf(text))) {
      List<String> columns = parser.getHeaderNames();
      int labelAt = labelAt(file, columns, labelColumn);
      others = without(columns, labelAt);
      for (CSVRecord row : parser) {
        if (row.getRecordNumber() > most) {
          break;
        }
        if (row.size() != columns.size()) {
          throw new DataException(
              file,
              "row %d (line %d) has %d fields but the header has %d"
                  .formatted(
                      row.getRecordNumber(),
                      parser.getCurrentLineNumber(),
                      row.size(),
                      columns.size()));
        }
        if (row.get(labelAt).isEmpty()) {
          throw new DataException(
              file, "row %d has no label in '%s'".formatted(row.getRecordNumber(), labelColumn));
        }
        labels.add(row.get(labelAt));
        reader.row(row.getRecordNumber(), others, without(row.toList(), labelAt));
      }
      return others;
    } catch (IOException | UncheckedIOException e) {
      if (most == FIRST_ROWS && !labels.isEmpty()) {
        // The lines that were read end within quotes.
        return others;
      }
      throw new DataException(file, e);
    } catch (IllegalArgumentException e) {
      // Commons CSV reports a bad header (repeated or missing names) this way.
      throw new DataException(file, String.valueOf(e.getMessage()));
    }
  }

  /**
   * The format that the header shows, with semicolons or tabs where it has no commas, as
   * spreadsheets write it; a byte order mark before it is skipped.
   */
  static CSVFormat formatOf(BufferedReader text) throws IOException {
    text.mark(1);
    if (text.read() != BYTE_ORDER_MARK) {
      text.reset();
    }
    text.mark(LONGEST_HEADER);
    int commas = 0;
    int semicolons = 0;
    int tabs = 0;
    boolean quoted = false;
    for (int i = 0; i < LONGEST_HEADER; i++) {
      int c = text.read();
      if (c < 0 || (!quoted && (c == '\n' || c == '\r'))) {
        break;
      }
      quoted ^= c == '"';
      commas += !quoted && c == ',' ? 1 : 0;
      semicolons += !quoted && c == ';' ? 1 : 0;
      tabs += !quoted && c == '\t' ? 1 : 0;
    }
    text.reset();
    if (commas > 0 || semicolons + tabs == 0) {
      return FORMAT;
    }
    return FORMAT.builder().setDelimiter(semicolons > 0 ? ';' : '\t').get();
  }

  private static int labelAt(Path file, List<String> columns, String labelColumn)
      throws DataException {
    int labelAt = columns.indexOf(labelColumn);
    if (labelAt < 0) {
      throw DataException.noColumn(
          file, "no column is called '%s'".formatted(labelColumn), labelColumn, columns);
    }
    if (columns.size() < 2) {
      throw new DataException(file, "there is no column beside the labels");
    }
    return labelAt;
  }

  private static List<String> without(List<String> all, int at) {
    List<String> others = new ArrayList<>(all);
    others.remove(at);
    return others;
  }

  private static Map<String, Integer> classes(Path file, List<String> labels, String column)
      throws DataException {
    boolean whole = labels.stream().allMatch(label -> label.matches("-?[0-9]{1,9}"));
    TreeSet<String> sorted =
        whole
            ? new TreeSet<>((a, b) -> Integer.compare(Integer.parseInt(a), Integer.parseInt(b)))
            : new TreeSet<>();
    sorted.addAll(labels);
    if (sorted.size() < 2 || sorted.size() > MAX_CLASSES) {
      throw new DataException(
          file,
          "column '%s' has %d different labels; a classifier needs 2 to %d"
              .formatted(column, sorted.size(), MAX_CLASSES));
    }
    Map<String, Integer> numbers = new LinkedHashMap<>();
    sorted.forEach(label -> numbers.put(label, numbers.size()));
    if (whole) {
      // Such as 7 and 07: equal as numbers, and so one class.
      labels.forEach(label -> numbers.putIfAbsent(label, numbers.get(sorted.floor(label))));
    }
    return numbers;
  }

  /** A field as an error may quote it. */
  static String quoted(String field) {
    return field.length() <= LONGEST_QUOTED ? field : field.substring(0, LONGEST_QUOTED) + "..";
  }

  /** The number of each row that is held out, or of each that is not. */
  int[] rows(int holdOutEvery, boolean heldOut) {
    return IntStream.range(0, labels.length)
        .filter(row -> ((row + 1) % holdOutEvery == 0) == heldOut)
        .toArray();
  }
}
