package dev.kastor.engine.data;

import java.nio.file.Path;

/** A data file cannot be used; the message names the file, the place and what is wrong there. */
public final class DataException extends Exception {
  private static final long serialVersionUID = 1;

  public DataException(Path file, String problem) {
    super("%s: %s".formatted(file, problem));
  }

  DataException(Path file, Exception cause) {
    super("%s: cannot be read (%s)".formatted(file, cause), cause);
  }
}
