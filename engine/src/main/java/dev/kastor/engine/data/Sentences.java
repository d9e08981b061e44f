package dev.kastor.engine.data;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Sentences with the name of a class each, from a file of lines {@code label<TAB>sentence}.
 *
 * <p>The file is UTF-8; a byte order mark, line ends of Windows and lines of blanks are skipped.
 *
 * @param training sentences to train with
 * @param heldOut sentences that only evaluation sees
 * @param labels names of the classes, sorted
 */
public record Sentences(Examples training, Examples heldOut, List<String> labels) {
  /** A model with more classes than this would be made of them. */
  private static final int MOST_CLASSES = 10_000;

  private static final char BYTE_ORDER_MARK = '\ufeff';

  /** Of a larger file the beginning alone is looked at. */
  private static final long GLANCED_BYTES = 1 << 20;

  private static final int GLANCED_LINES = 100;

  /** Bytes of the shortest line: a label, a tab, a sentence and the end. */
  private static final long LEAST_LINE_BYTES = 4;

  public Sentences {
    labels = List.copyOf(labels);
  }

  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Line(int number, String label, byte[] sentence) {}

  /**
   * Reads a file and keeps every so-many-th sentence as held-out data.
   *
   * @param context most bytes of a sentence, of which more are left out
   * @param holdOutEvery at least 2: sentences holdOutEvery, 2 holdOutEvery, .. are held out
   */
  public static Sentences read(Path file, int context, int holdOutEvery) throws DataException {
    List<Line> lines = lines(file, context, Integer.MAX_VALUE, true);
    Map<String, Integer> numbers = numbers(file, lines);
    List<Line> training = new ArrayList<>();
    List<Line> heldOut = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      ((i + 1) % holdOutEvery == 0 ? heldOut : training).add(lines.get(i));
    }
    if (heldOut.isEmpty()) {
      throw new DataException(
          file,
          "%d sentences are too few to hold every %dth out".formatted(lines.size(), holdOutEvery));
    }
    return new Sentences(
        Padded.of(training, context, numbers),
        Padded.of(heldOut, context, numbers),
        List.copyOf(numbers.keySet()));
  }

  /**
   * Looks at the first lines of a file, at all of a small one.
   *
   * @return the most training examples that it can hold
   */
  public static long glance(Path file, int context, int holdOutEvery) throws DataException {
    long bytes = DataFile.size(file);
    if (bytes <= GLANCED_BYTES) {
      return read(file, context, holdOutEvery).training.examples();
    }
    lines(file, context, GLANCED_LINES, true);
    return bytes / LEAST_LINE_BYTES;
  }

  /**
   * Reads the first lines of a file.
   *
   * @param labelled whether each must have a label; otherwise what is before its first tab, if it
   *     has one, is its label
   */
  static List<Line> lines(Path file, int context, int most, boolean labelled) throws DataException {
    DataFile.size(file);
    List<Line> lines = new ArrayList<>();
    // Each byte is a character here, so that a line that is no UTF-8 has a number.
    try (BufferedReader reader = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
      int number = 0;
      for (String bytes = reader.readLine();
          bytes != null && lines.size() < most;
          bytes = reader.readLine()) {
        number++;
        String text = decoded(file, number, bytes);
        String line =
            number == 1 && !text.isEmpty() && text.charAt(0) == BYTE_ORDER_MARK
                ? text.substring(1)
                : text;
        if (!line.isBlank()) {
          lines.add(line(file, number, line, context, labelled));
        }
      }
      return lines;
    } catch (IOException e) {
      throw new DataException(file, e);
    }
  }

  private static String decoded(Path file, int number, String bytes) throws DataException {
    try {
      ByteBuffer buffer = ByteBuffer.wrap(bytes.getBytes(StandardCharsets.ISO_8859_1));
      return StandardCharsets.UTF_8.newDecoder().decode(buffer).toString();
    } catch (CharacterCodingException e) {
      throw new DataException(
          file,
          "line %d is no text in UTF-8. Convert the file, such as with iconv".formatted(number));
    }
  }

  private static Line line(Path file, int number, String line, int context, boolean labelled)
      throws DataException {
    int tab = line.indexOf('\t');
    String label = tab < 0 ? "" : line.substring(0, tab).strip();
    byte[] sentence = bytes(line.substring(tab + 1), context);
    if ((labelled && label.isEmpty()) || sentence.length == 0) {
      throw new DataException(
          file,
          "line %d is not 'label<TAB>sentence' but '%s'".formatted(number, CsvTable.quoted(line)));
    }
    return new Line(number, label, sentence);
  }

  /** The first bytes of a sentence. */
  private static byte[] bytes(String sentence, int context) {
    byte[] all = sentence.strip().getBytes(StandardCharsets.UTF_8);
    return all.length <= context ? all : Arrays.copyOf(all, context);
  }

  /**
   * Writes the tokens of a sentence, each a byte and 1, and zeros behind its end.
   *
   * @param to receives them
   * @param from where they begin
   */
  static void tokens(byte[] sentence, float[] to, int from, int context) {
    for (int i = 0; i < context; i++) {
      to[from + i] = i < sentence.length ? (sentence[i] & 0xff) + 1 : 0;
    }
  }

  private static Map<String, Integer> numbers(Path file, List<Line> lines) throws DataException {
    Map<String, Integer> numbers = new TreeMap<>();
    lines.forEach(line -> numbers.put(line.label, 0));
    if (numbers.size() < 2 || numbers.size() > MOST_CLASSES) {
      throw new DataException(
          file, "has %d labels, not 2 to %d".formatted(numbers.size(), MOST_CLASSES));
    }
    int next = 0;
    for (Map.Entry<String, Integer> each : numbers.entrySet()) {
      each.setValue(next++);
    }
    return numbers;
  }

  /** Sentences as tokens, as long as the context. */
  private record Padded(List<byte[]> sentences, List<Integer> classes, int context)
      implements Examples {
    static Padded of(List<Line> lines, int context, Map<String, Integer> numbers) {
      Map<String, Integer> known = new HashMap<>(numbers);
      return new Padded(
          lines.stream().map(Line::sentence).toList(),
          lines.stream().map(line -> known.getOrDefault(line.label, 0)).toList(),
          context);
    }

    @Override
    public int examples() {
      return sentences.size();
    }

    @Override
    public void gather(int[] examples, float[] features, int[] targets) {
      for (int i = 0; i < examples.length; i++) {
        tokens(sentences.get(examples[i]), features, i * context, context);
        targets[i] = classes.get(examples[i]);
      }
    }
  }
}
