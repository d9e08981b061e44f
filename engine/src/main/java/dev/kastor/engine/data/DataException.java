package dev.kastor.engine.data;

import dev.kastor.plugin.Nearest;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A data file cannot be used; the message names the file, the place and what is wrong there. */
public final class DataException extends Exception {
  private static final long serialVersionUID = 1;

  private final @Nullable String column;

  public DataException(Path file, String problem) {
    this(file, problem, null, null);
  }

  DataException(Path file, Exception cause) {
    this(file, "cannot be read (%s)".formatted(why(file, cause)), null, cause);
  }

  private DataException(
      Path file, String problem, @Nullable String column, @Nullable Exception cause) {
    super("%s: %s".formatted(file, problem), cause);
    this.column = column;
  }

  /**
   * The failure to find a column.
   *
   * @param problem what is wrong, up to the list of the columns that there are
   */
  static DataException noColumn(Path file, String problem, String column, List<String> header) {
    return new DataException(
        file,
        "%s; the header has: %s%s"
            .formatted(problem, String.join(", ", header), Nearest.question(column, header)),
        column,
        null);
  }

  /** Name of the column that the file does not have, if that is what is wrong. */
  public Optional<String> column() {
    return Optional.ofNullable(column);
  }

  private static String why(Path file, Exception cause) {
    return switch (cause) {
      case NoSuchFileException _ -> "there is no such file";
      case AccessDeniedException _ -> "this user may not read it";
      case IOException e when file.toString().equals(e.getMessage()) ->
          e.getClass().getSimpleName();
      default -> String.valueOf(cause.getMessage());
    };
  }
}
