package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
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

  /**
   * Holds it in a certain memory: itself if it is there, else a copy.
   *
   * @param who is named if there is no memory for a copy
   */
  public Value in(Memory memory, Object who) {
    return owner == memory ? retain() : copy(memory, who);
  }

  /**
   * A copy that nobody else holds.
   *
   * @param who is named if there is no memory for it
   */
  Value copy(Memory memory, Object who) {
    Value copy = memory.allocate(new Type(tensor.shape(), tensor.dtype()), who);
    long bytes = (long) tensor.shape().elements() * tensor.dtype().bytes();
    MemorySegment.copy(tensor.segment(), 0, copy.tensor.segment(), 0, bytes);
    return copy;
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
  boolean sole() {
    return holders.get() == 1 && owner != null;
  }
}
