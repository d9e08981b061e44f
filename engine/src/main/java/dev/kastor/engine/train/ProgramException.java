package dev.kastor.engine.train;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A program's parameters or data are unusable; trying again would not help. */
public final class ProgramException extends Exception {
  private static final long serialVersionUID = 1;

  private final @Nullable String parameter;

  public ProgramException(String message) {
    super(message);
    parameter = null;
  }

  public ProgramException(String message, Throwable cause) {
    super(message, cause);
    parameter = null;
  }

  private ProgramException(String parameter, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.parameter = parameter;
  }

  /** The failure of a parameter, or of data that it names. */
  public static ProgramException of(String parameter, String message) {
    return new ProgramException(parameter, message, null);
  }

  /** The failure of a parameter, or of data that it names. */
  public static ProgramException of(String parameter, String message, Throwable cause) {
    return new ProgramException(parameter, message, cause);
  }

  /** The parameter to be changed, if it is one. */
  public Optional<String> parameter() {
    return Optional.ofNullable(parameter);
  }
}
