package dev.kastor.protocol;

import org.jspecify.annotations.Nullable;

/**
 * How a replica ended; sent in its last report and written as the container's termination message.
 *
 * @param kind what happened
 * @param progress where training stood
 * @param metricName name of the held-out metric, such as {@code accuracy} or {@code bitsPerByte}
 * @param metric its value on held-out data; absent unless completed
 * @param lostOrRepeatedExamples examples that the audit found missing or counted twice
 * @param message what a person should read
 * @param outOfMemoryAt examples of a pass at which the device ran out of memory; absent where that
 *     is not why it ended
 */
public record Outcome(
    Kind kind,
    @Nullable Progress progress,
    @Nullable String metricName,
    @Nullable Double metric,
    long lostOrRepeatedExamples,
    String message,
    @Nullable Integer outOfMemoryAt) {
  /** The ways a replica ends by itself. */
  public enum Kind {
    /** The declared work is done. */
    COMPLETED,
    /** Told to stop: state is in a checkpoint. */
    STOPPED,
    /** No longer a member. */
    LEFT,
    /** Cannot go on and a restart would not help (bad program parameters, unreadable data). */
    FAILED_PERMANENTLY,
    /** Cannot go on; a restart may help. */
    FAILED
  }

  /** An outcome that has nothing to do with memory. */
  public Outcome(
      Kind kind,
      @Nullable Progress progress,
      @Nullable String metricName,
      @Nullable Double metric,
      long lostOrRepeatedExamples,
      String message) {
    this(kind, progress, metricName, metric, lostOrRepeatedExamples, message, null);
  }

  /** The same for an operator of an older protocol, which refuses fields that it does not know. */
  public Outcome asOf(int protocol) {
    return protocol >= 2
        ? this
        : new Outcome(kind, progress, metricName, metric, lostOrRepeatedExamples, message);
  }

  public Outcome {
    Check.atLeast("outcome.lostOrRepeatedExamples", lostOrRepeatedExamples, 0);
    Check.atMostChars("outcome.message", message, 2048);
    if (metricName != null) {
      Check.atMostChars("outcome.metricName", metricName, 64);
    }
    if (metric != null) {
      Check.finite("outcome.metric", metric);
    }
    if (outOfMemoryAt != null) {
      Check.atLeast("outcome.outOfMemoryAt", outOfMemoryAt, 1);
    }
  }
}
