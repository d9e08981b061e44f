package dev.kastor.cli.terminal;

import dev.kastor.traces.AtomicFile;
import java.io.IOException;
import java.nio.file.Path;

/** File into which a command will write its result. */
public final class ResultFile {
  private ResultFile() {}

  /**
   * Checks before the work that the result can be written after it.
   *
   * @throws CliException if it cannot; a wrong argument
   */
  public static void check(Path file) {
    try {
      AtomicFile.check(file);
    } catch (IOException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }
}
