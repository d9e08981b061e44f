package dev.kastor.traces;

import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** A trace file that cannot be read; the message names file, line and column. */
public final class TraceException extends Exception {
  private static final long serialVersionUID = 1L;

  public TraceException(String message) {
    super(message);
  }

  public TraceException(String message, Throwable cause) {
    super(message, cause);
  }

  /** The failure to read a file. */
  public static TraceException unreadable(Path file, Exception cause) {
    String why =
        switch (cause) {
          case UncheckedIOException e -> String.valueOf(e.getMessage());
          case NoSuchFileException _ -> "there is no such file";
          case AccessDeniedException _ -> "this user may not read it";
          case CharacterCodingException _ -> "it is no UTF-8 text";
          default -> String.valueOf(cause.getMessage());
        };
    return new TraceException("%s cannot be read: %s".formatted(file, why), cause);
  }
}
