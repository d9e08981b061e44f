package dev.kastor.engine.exec;

import dev.kastor.engine.tensor.Tensor;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a run fetched; valid until it is closed. */
public final class Results implements AutoCloseable {
  private final @Nullable Value[] values;

  Results(@Nullable Value[] values) {
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

  @Override
  public void close() {
    Arrays.stream(values).filter(Objects::nonNull).forEach(Value::release);
    Arrays.fill(values, null);
  }
}
