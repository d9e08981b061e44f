package dev.kastor.agent.ring;

import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Log of the connections that were refused: the first at once, then at most one line a minute with
 * their number, so that strangers cannot fill a disk. Thread-safe.
 */
final class Refusals {
  private static final long INTERVAL_NANOS = 60_000_000_000L;

  private final LongSupplier nanoTime;
  private final Consumer<String> line;
  private long number;
  private boolean told;
  private long toldNanos;

  /**
   * @param nanoTime as {@link System#nanoTime}
   * @param line told of each line
   */
  Refusals(LongSupplier nanoTime, Consumer<String> line) {
    this.nanoTime = nanoTime;
    this.line = line;
  }

  /** Counts one. */
  synchronized void add(String from, String why) {
    long now = nanoTime.getAsLong();
    number++;
    if (told && now - toldNanos < INTERVAL_NANOS) {
      return;
    }
    line.accept(
        told
            ? "refused %d ring connections in %d s, the last from %s: %s"
                .formatted(number, (now - toldNanos) / 1_000_000_000, from, why)
            : "refused a ring connection from %s: %s".formatted(from, why));
    told = true;
    toldNanos = now;
    number = 0;
  }
}
