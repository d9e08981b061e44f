package dev.kastor.engine.data;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/**
 * Examples of a file as an exported model takes them: without labels, before shift and scale.
 *
 * @param names what each is called, such as {@code row 3}
 * @param values values side by side; whole numbers for bytes and categories
 * @param position of its positions the one that the file ends at
 */
@SuppressWarnings("ArrayRecordComponent") // shared bulk data, never compared
public record RawExamples(List<String> names, float[] values, int position) {
  /** More rows than this are no file for a look. */
  private static final int MOST_ROWS = 1_000_000;

  public RawExamples {
    names = List.copyOf(names);
  }

  /**
   * Reads a file.
   *
   * @param inputs what the model's inputs mean
   * @throws DataException if the file is not what they need; the message names it
   */
  public static RawExamples read(Inputs inputs, Path file) throws DataException {
    return switch (inputs) {
      case Inputs.Features _ ->
          throw new DataException(
              file, "cannot be read: the model does not say what its features are made from");
      case Inputs.Bytes(int context) -> text(file, context);
      case Inputs.Sentences(int context) -> sentences(file, context);
      case Inputs.Pixels pixels -> image(file, pixels);
      case Inputs.Numbers numbers ->
          rows(
              file,
              numbers.columns(),
              (row, column, field) -> {
                try {
                  return Float.parseFloat(field);
                } catch (NumberFormatException e) {
                  throw new DataException(
                      file,
                      "row %d, field '%s' is not a number: '%s'"
                          .formatted(row, numbers.columns().get(column), CsvTable.quoted(field)));
                }
              });
      case Inputs.Categories categories ->
          rows(
              file,
              categories.columns().stream().map(Inputs.Categories.Column::name).toList(),
              (row, column, field) -> bucket(file, categories.columns().get(column), row, field));
    };
  }

  private static float bucket(Path file, Inputs.Categories.Column column, long row, String field)
      throws DataException {
    int bucket = column.buckets().of(field);
    if (bucket == Buckets.UNKNOWN) {
      throw new DataException(
          file,
          "row %d, field '%s' is '%s', which no row had that the model was trained with"
              .formatted(row, column.name(), CsvTable.quoted(field)));
    }
    return bucket;
  }

  private static RawExamples text(Path file, int context) throws DataException {
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(file);
    } catch (IOException e) {
      throw new DataException(file, e);
    }
    if (bytes.length == 0) {
      throw new DataException(file, "is empty");
    }
    int from = Math.max(0, bytes.length - context);
    float[] values = new float[context];
    for (int i = from; i < bytes.length; i++) {
      values[i - from] = bytes[i] & 0xff;
    }
    return new RawExamples(
        List.of(String.valueOf(file.getFileName())), values, bytes.length - from - 1);
  }

  /** Each line is a sentence; a label and a tab before it are looked over. */
  private static RawExamples sentences(Path file, int context) throws DataException {
    List<Sentences.Line> lines = Sentences.lines(file, context, MOST_ROWS + 1, false);
    if (lines.isEmpty() || lines.size() > MOST_ROWS) {
      throw new DataException(
          file, "has %d sentences, not 1 to %d".formatted(lines.size(), MOST_ROWS));
    }
    float[] values = new float[Math.multiplyExact(lines.size(), context)];
    List<String> names = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      Sentences.tokens(lines.get(i).sentence(), values, i * context, context);
      names.add("line " + lines.get(i).number());
    }
    return new RawExamples(names, values, 0);
  }

  private static RawExamples image(Path file, Inputs.Pixels pixels) throws DataException {
    ImageFile.Size size = ImageFile.Size.of(file);
    boolean fits = size.height() == pixels.height() && size.width() == pixels.width();
    if (!fits && pixels.height() != pixels.width()) {
      throw new DataException(
          file,
          "is %dx%d pixels, and the model takes %dx%d"
              .formatted(size.width(), size.height(), pixels.width(), pixels.height()));
    }
    ImageFile image = ImageFile.read(file, fits ? 0 : pixels.height());
    byte[] bytes = (fits ? image : image.square(pixels.height())).in(pixels.channels()).values();
    float[] values = new float[bytes.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = (bytes[i] & 0xff) * pixels.highest() / Inputs.Pixels.BYTE;
    }
    return new RawExamples(List.of(String.valueOf(file.getFileName())), values, 0);
  }

  /** Makes a value of a field. */
  private interface Field {
    float value(long row, int column, String field) throws DataException;
  }

  private static RawExamples rows(Path file, List<String> columns, Field fields)
      throws DataException {
    TableKind.refuse(file);
    List<String> names = new ArrayList<>();
    float[] values = new float[0];
    try (InputStream in = Files.newInputStream(file);
        BufferedReader text =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        CSVParser parser = CSVParser.parse(text, CsvTable.formatOf(text))) {
      int[] places = places(file, parser.getHeaderNames(), columns);
      for (CSVRecord row : parser) {
        if (names.size() == MOST_ROWS) {
          throw new DataException(file, "has more than %d rows".formatted(MOST_ROWS));
        }
        if (row.size() != parser.getHeaderNames().size()) {
          throw new DataException(
              file,
              "row %d has %d fields but the header has %d"
                  .formatted(row.getRecordNumber(), row.size(), parser.getHeaderNames().size()));
        }
        int at = names.size() * columns.size();
        if (at + columns.size() > values.length) {
          values = Arrays.copyOf(values, Math.max(1024, 2 * (at + columns.size())));
        }
        for (int c = 0; c < places.length; c++) {
          values[at + c] = fields.value(row.getRecordNumber(), c, row.get(places[c]));
        }
        names.add("row " + row.getRecordNumber());
      }
    } catch (IOException | UncheckedIOException e) {
      throw new DataException(file, e);
    } catch (IllegalArgumentException e) {
      // Commons CSV reports a bad header (repeated or missing names) this way.
      throw new DataException(file, String.valueOf(e.getMessage()));
    }
    return new RawExamples(names, Arrays.copyOf(values, names.size() * columns.size()), 0);
  }

  private static int[] places(Path file, List<String> header, List<String> columns)
      throws DataException {
    int[] places = new int[columns.size()];
    for (int c = 0; c < places.length; c++) {
      places[c] = header.indexOf(columns.get(c));
      if (places[c] < 0) {
        throw new DataException(
            file, "has no column '%s', which the model needs".formatted(columns.get(c)));
      }
    }
    return places;
  }
}
