package dev.kastor.engine.exec;

import dev.kastor.engine.tensor.Tensor;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a run fetched; valid until it is closed. */
public final class Results implements AutoCloseable {
  private final @Nullable Value[] values;

  /**
   * Results of a run.
   *
   * @param values held values, taken over; null for fetches that have none
   */
  public Results(@Nullable Value[] values) {
    this.values = values;
  }

  /** The value of a fetch, by its number. */
  public Tensor get(int fetch) {
    Value value = values[fetch];
    if (value == null) {
      throw new IllegalArgumentException("Fetch %d has no value.".formatted(fetch));
    }
    return value.tensor();
  }

  /** Holds the value of a fetch for longer; the caller releases it. Empty if it has none. */
  public Optional<Value> held(int fetch) {
    return Optional.ofNullable(values[fetch]).map(Value::retain);
  }

  @Override
  public void close() {
    Arrays.stream(values).filter(Objects::nonNull).forEach(Value::release);
    Arrays.fill(values, null);
  }
}
