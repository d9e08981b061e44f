package dev.kastor.local;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** Part of a log that was written since a start; what is before it is of earlier ones. */
final class StartLog {
  private static final int LAST = 5;

  /** Lines of a stack trace. */
  private static final Pattern FRAME =
      Pattern.compile("\\s+at .*|\\s+\\.\\.\\. \\d+ (more|common frames omitted).*|\\s*");

  private final Path file;
  private final long from;

  private StartLog(Path file, long from) {
    this.file = file;
    this.from = from;
  }

  /** What a file, which need not be there yet, will have from now on. */
  static StartLog of(Path file) throws IOException {
    return new StartLog(file, Files.exists(file) ? Files.size(file) : 0);
  }

  Path file() {
    return file;
  }

  long lines() {
    return read().size();
  }

  /** The last lines but those of stack traces. */
  String end() {
    List<String> lines = read().stream().filter(line -> !FRAME.matcher(line).matches()).toList();
    return lines.isEmpty()
        ? "(nothing)"
        : String.join(
            System.lineSeparator(), lines.subList(Math.max(0, lines.size() - LAST), lines.size()));
  }

  private List<String> read() {
    try (InputStream in = Files.newInputStream(file)) {
      in.skipNBytes(from);
      // Others than we may write to it: a program's bytes need not be UTF-8.
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      return List.of();
    }
  }
}
