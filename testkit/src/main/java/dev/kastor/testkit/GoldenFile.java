package dev.kastor.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.opentest4j.AssertionFailedError;

/**
 * File of the repository that holds exactly what the code makes.
 *
 * <p>With {@code -Dkastor.golden.write=true} it is written rather than compared, except in the gate
 * ({@code KASTOR_GATE} is true): a test that has just written its file says nothing about the code,
 * so there it fails.
 */
public final class GoldenFile {
  private static final String PROPERTY = "kastor.golden.write";
  private static final String GATE = "KASTOR_GATE";

  private final Path file;
  private final boolean writes;
  private final boolean gate;

  GoldenFile(Path file, boolean writes, boolean gate) {
    this.file = file;
    this.writes = writes;
    this.gate = gate;
  }

  /** A file, relative to the folder of the module. */
  public static GoldenFile at(Path file) {
    return new GoldenFile(file, Boolean.getBoolean(PROPERTY), "true".equals(System.getenv(GATE)));
  }

  /** A file by its path in the repository, such as {@code docs/cli.md}. */
  public static GoldenFile ofRepository(String path) {
    return at(Path.of(System.getProperty("kastor.root", "..")).resolve(path));
  }

  /** Checks that the file is this text, byte by byte. */
  public void holds(String text) throws IOException {
    if (write(text.getBytes(UTF_8))) {
      return;
    }
    String held = new String(bytes(), UTF_8);
    if (!held.equals(text)) {
      throw new AssertionFailedError(
          "%s is not what the code makes. %s: the file has %s. %s"
              .formatted(file, firstDifference(held, text), quoted(held, text), remedy()),
          text,
          held);
    }
  }

  /** Checks that the file is these lines, each with an end of line. */
  public void holds(List<String> lines) throws IOException {
    StringBuilder text = new StringBuilder();
    lines.forEach(line -> text.append(line).append('\n'));
    holds(text.toString());
  }

  /** Checks that the file is these bytes. */
  public void holds(byte[] bytes) throws IOException {
    if (write(bytes)) {
      return;
    }
    byte[] held = bytes();
    int at = Arrays.mismatch(held, bytes);
    if (at >= 0) {
      throw new AssertionFailedError(
          "%s (%d bytes) is not what the code makes (%d bytes); the first difference is at byte %d. %s"
              .formatted(file, held.length, bytes.length, at, remedy()),
          HexFormat.of().formatHex(bytes),
          HexFormat.of().formatHex(held));
    }
  }

  /**
   * Checks that below a line the file is this text. What is above is written by hand.
   *
   * @return what is above
   */
  public String holdsBelow(String line, String text) throws IOException {
    String held = new String(bytes(), UTF_8);
    String mark = "\n" + line.strip() + "\n";
    int begin = held.indexOf(mark);
    if (begin < 0) {
      throw new AssertionFailedError("%s has no line '%s'.".formatted(file, line.strip()));
    }
    String above = held.substring(0, begin + 1);
    holds(above + line.strip() + "\n" + text);
    return above;
  }

  /** Whether the file was written and is not to be compared. */
  private boolean write(byte[] made) throws IOException {
    if (!writes) {
      return false;
    }
    if (gate) {
      throw new AssertionFailedError(
          "%s is set, and %s is true: the gate never writes a golden file (%s). Leave the property out."
              .formatted(PROPERTY, GATE, file));
    }
    Path folder = file.toAbsolutePath().getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    Files.write(file, made);
    return true;
  }

  private byte[] bytes() throws IOException {
    if (!Files.exists(file)) {
      throw new AssertionFailedError("%s is absent. %s".formatted(file, remedy()));
    }
    return Files.readAllBytes(file);
  }

  private static String remedy() {
    return "If the change is meant, run this test with -D%s=true and read the difference."
        .formatted(PROPERTY);
  }

  private static String firstDifference(String held, String made) {
    return "Line %d differs".formatted(line(held, made) + 1);
  }

  private static String quoted(String held, String made) {
    int line = line(held, made);
    return at(held, line).equals(at(made, line))
        ? "%d lines, the code makes %d".formatted(held.lines().count(), made.lines().count())
            + ", or one of them lacks the last end of line"
        : "'%s', the code makes '%s'".formatted(at(held, line), at(made, line));
  }

  private static int line(String held, String made) {
    int line = 0;
    for (int i = 0; i < Math.min(held.length(), made.length()); i++) {
      if (held.charAt(i) != made.charAt(i)) {
        return line;
      }
      if (held.charAt(i) == '\n') {
        line++;
      }
    }
    return line;
  }

  private static String at(String text, int line) {
    String[] lines = text.split("\n", -1);
    return line < lines.length ? lines[line] : "";
  }
}
