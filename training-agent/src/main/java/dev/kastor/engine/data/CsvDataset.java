package dev.kastor.engine.data;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** Reads a CSV file with a header, one column of labels and otherwise numbers. */
public final class CsvDataset {
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

  private CsvDataset() {}

  /**
   * Reads a file and keeps every so-many-th row as held-out data.
   *
   * <p>Rows become images of one pixel row, or square ones where the number of features is a
   * square. Labels may be any text; classes are numbered in their order, as numbers where all are
   * whole numbers.
   *
   * @param labelColumn name of the column of labels
   * @param holdOutEvery at least 2: rows holdOutEvery, 2 holdOutEvery, .. are held out
   */
  public static LabelledImages read(Path file, String labelColumn, int holdOutEvery)
      throws DataException {
    if (holdOutEvery < 2) {
      throw new IllegalArgumentException(
          "holdOutEvery must be at least 2 but is %d.".formatted(holdOutEvery));
    }
    List<float[]> rows = new ArrayList<>();
    List<String> labels = new ArrayList<>();
    try (CSVParser parser = CSVParser.parse(file, StandardCharsets.UTF_8, FORMAT)) {
      List<String> columns = parser.getHeaderNames();
      int labelAt = columns.indexOf(labelColumn);
      if (labelAt < 0) {
        throw new DataException(
            file,
            "no column is called '%s'; the header has: %s"
                .formatted(labelColumn, String.join(", ", columns)));
      }
      if (columns.size() < 2) {
        throw new DataException(file, "there is no column beside the labels");
      }
      for (CSVRecord row : parser) {
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
        rows.add(features(file, row, columns, labelAt));
      }
    } catch (IOException | UncheckedIOException e) {
      throw new DataException(file, e);
    } catch (IllegalArgumentException e) {
      // Commons CSV reports a bad header (repeated or missing names) this way.
      throw new DataException(file, String.valueOf(e.getMessage()));
    }
    if (rows.size() < holdOutEvery) {
      throw new DataException(
          file, "%d rows are too few to hold out one in %d".formatted(rows.size(), holdOutEvery));
    }
    Map<String, Integer> classes = classes(file, labels, labelColumn);
    return split(rows, labels, classes, holdOutEvery);
  }

  private static float[] features(Path file, CSVRecord row, List<String> columns, int labelAt)
      throws DataException {
    float[] values = new float[columns.size() - 1];
    int next = 0;
    for (int i = 0; i < columns.size(); i++) {
      if (i == labelAt) {
        continue;
      }
      float value;
      try {
        value = Float.parseFloat(row.get(i));
      } catch (NumberFormatException e) {
        value = Float.NaN;
      }
      if (!Float.isFinite(value)) {
        throw new DataException(
            file,
            "row %d, field '%s' is not a finite number: '%s'"
                .formatted(row.getRecordNumber(), columns.get(i), shorten(row.get(i))));
      }
      values[next++] = value;
    }
    return values;
  }

  private static String shorten(String text) {
    return text.length() <= 40 ? text : text.substring(0, 40) + "..";
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

  private static LabelledImages split(
      List<float[]> rows, List<String> labels, Map<String, Integer> numbers, int holdOutEvery) {
    int features = rows.getFirst().length;
    int side = (int) Math.round(Math.sqrt(features));
    int height = side * side == features ? side : 1;
    int classes = 1 + numbers.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    int heldOut = rows.size() / holdOutEvery;
    ImageSet[] parts = new ImageSet[2];
    for (int part = 0; part < 2; part++) {
      int count = part == 0 ? rows.size() - heldOut : heldOut;
      float[] pixels = new float[Math.multiplyExact(count, features)];
      int[] classOf = new int[count];
      int next = 0;
      for (int i = 0; i < rows.size(); i++) {
        if (((i + 1) % holdOutEvery == 0) == (part == 1)) {
          System.arraycopy(rows.get(i), 0, pixels, next * features, features);
          classOf[next++] = numbers.getOrDefault(labels.get(i), 0);
        }
      }
      parts[part] = new ImageSet(height, features / height, 1, classes, pixels, classOf);
    }
    return new LabelledImages(parts[0], parts[1]);
  }
}
