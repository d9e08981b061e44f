package dev.kastor.engine.saving;

import java.io.IOException;
import java.nio.file.Path;

/** Something saved that cannot be used; the message names the file. */
public final class SaveException extends IOException {
  private static final long serialVersionUID = 1;

  SaveException(Path file, String what) {
    super("%s %s.".formatted(file, what));
  }
}
