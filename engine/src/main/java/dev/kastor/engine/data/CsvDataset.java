package dev.kastor.engine.data;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * CSV file with a header, one column of labels and otherwise numbers.
 *
 * @param images its rows as images
 * @param columns names of the columns of numbers
 * @param labels names of the classes
 */
public record CsvDataset(LabelledImages images, List<String> columns, List<String> labels) {
  public CsvDataset {
    columns = List.copyOf(columns);
    labels = List.copyOf(labels);
  }

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
  public static CsvDataset read(Path file, String labelColumn, int holdOutEvery)
      throws DataException {
    List<float[]> rows = new ArrayList<>();
    CsvTable table =
        CsvTable.read(
            file,
            labelColumn,
            holdOutEvery,
            (number, columns, fields) -> rows.add(features(file, number, columns, fields)));
    return new CsvDataset(
        new LabelledImages(
            part(rows, table, table.rows(holdOutEvery, false)),
            part(rows, table, table.rows(holdOutEvery, true))),
        table.columns(),
        table.names());
  }

  /** Looks at the beginning of a file: at its columns and first rows. */
  public static Glance glance(Path file, String labelColumn, int holdOutEvery)
      throws DataException {
    CsvTable.Beginning beginning =
        CsvTable.begin(
            file,
            labelColumn,
            holdOutEvery,
            (number, columns, fields) -> features(file, number, columns, fields));
    int features = beginning.columns().size();
    int height = height(features);
    return Glance.of(height, features / height, 1, beginning.mostTraining());
  }

  /** Rows are square images where they can be, else one row of pixels. */
  private static int height(int features) {
    int side = (int) Math.round(Math.sqrt(features));
    return side * side == features ? side : 1;
  }

  private static float[] features(Path file, long number, List<String> columns, List<String> fields)
      throws DataException {
    float[] values = new float[fields.size()];
    for (int i = 0; i < values.length; i++) {
      try {
        values[i] = Float.parseFloat(fields.get(i));
      } catch (NumberFormatException e) {
        values[i] = Float.NaN;
      }
      if (!Float.isFinite(values[i])) {
        throw new DataException(
            file,
            "row %d, field '%s' is not a finite number: '%s'"
                .formatted(number, columns.get(i), CsvTable.quoted(fields.get(i))));
      }
    }
    return values;
  }

  private static ImageSet part(List<float[]> rows, CsvTable table, int[] numbers) {
    int features = table.columns().size();
    int height = height(features);
    float[] pixels = new float[Math.multiplyExact(numbers.length, features)];
    int[] labels = new int[numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      System.arraycopy(rows.get(numbers[i]), 0, pixels, i * features, features);
      labels[i] = table.labels()[numbers[i]];
    }
    return new ImageSet(height, features / height, 1, table.classes(), pixels, labels);
  }
}
