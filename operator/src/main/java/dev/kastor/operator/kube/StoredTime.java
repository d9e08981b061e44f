package dev.kastor.operator.kube;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Time that an object of the API server holds as text, which others may have written. */
public final class StoredTime {
  private StoredTime() {}

  /** The time; empty if there is none or it cannot be read, which is as good as none. */
  public static Optional<Instant> of(@Nullable String text) {
    if (text == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(Instant.parse(text));
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }
}
