package dev.kastor.engine.exec;

import dev.kastor.engine.tensor.Tensor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A tensor and the count of those who hold it; its memory goes back to the pool with the last.
 *
 * <p>Thread-safe. A value that others hold too is not written to.
 */
public final class Value {
  private final Tensor tensor;
  private final @Nullable Memory owner;
  private final AtomicInteger holders = new AtomicInteger(1);

  Value(Tensor tensor, @Nullable Memory owner) {
    this.tensor = tensor;
    this.owner = owner;
  }

  /** A value over memory that somebody else keeps for as long as the value is used. */
  static Value borrowed(Tensor tensor) {
    return new Value(tensor, null);
  }

  /** The tensor; valid while the value is held. */
  public Tensor tensor() {
    return tensor;
  }

  /** Holds it once more. */
  public Value retain() {
    if (holders.getAndIncrement() <= 0) {
      throw new IllegalStateException("A value was used after its release: " + tensor.shape());
    }
    return this;
  }

  /** Lets go of it once. */
  public void release() {
    int left = holders.decrementAndGet();
    if (left < 0) {
      throw new IllegalStateException("A value was released too often: " + tensor.shape());
    }
    if (left == 0 && owner != null) {
      owner.free(tensor.segment());
    }
  }

  /** Whether nobody else holds it, so that its holder may write to it. */
  public boolean sole() {
    return holders.get() == 1 && owner != null;
  }
}
