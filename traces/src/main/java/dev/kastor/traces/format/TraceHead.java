package dev.kastor.traces.format;

import dev.kastor.traces.TraceException;
import dev.kastor.traces.TraceInput;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * How a trace begins, from which its format is told.
 *
 * @param file the file or folder
 * @param firstLine its first line that is neither blank nor a {@code #} comment; empty for a folder
 *     or an empty file
 */
public record TraceHead(Path file, String firstLine) {
  /** A log may be one long line of JSON, of which a little is enough. */
  private static final int MOST_CHARACTERS = 4096;

  static TraceHead of(Path file) throws TraceException {
    if (Files.isDirectory(file)) {
      return new TraceHead(file, "");
    }
    try (BufferedReader text = TraceInput.open(file)) {
      StringBuilder line = new StringBuilder();
      for (int c = text.read(); c >= 0 && line.length() < MOST_CHARACTERS; c = text.read()) {
        if (c != '\n') {
          line.append((char) c);
        } else if (matters(line)) {
          break;
        } else {
          line.setLength(0);
        }
      }
      return new TraceHead(file, matters(line) ? line.toString().strip() : "");
    } catch (IOException e) {
      throw TraceException.unreadable(file, e);
    }
  }

  private static boolean matters(CharSequence line) {
    String text = line.toString().strip();
    return !text.isEmpty() && !text.startsWith("#");
  }

  /** Cells of the first line, as of a CSV header. */
  public List<String> columns() {
    return Arrays.stream(firstLine.split(",", -1)).map(String::strip).toList();
  }

  /** Whether the file or folder, without the ending of compressed files, is called so. */
  public boolean isCalled(String name) {
    String actual = String.valueOf(file.getFileName());
    return actual.equals(name) || actual.equals(name + ".gz");
  }
}
