package dev.kastor.operator.history;

import java.time.Instant;
import java.util.Collections;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of time in which a job's allocation stayed the same.
 *
 * @param from when it was decided
 * @param to when it ended; absent while it lasts
 * @param replicas replicas on all nodes together; 0 while the job waits
 * @param slots slots that these take
 * @param replicasByNode replicas by node
 * @param reason why, as one word
 * @param message why, as a sentence
 */
public record Segment(
    Instant from,
    @Nullable Instant to,
    int replicas,
    int slots,
    SequencedMap<String, Integer> replicasByNode,
    String reason,
    String message) {
  public Segment {
    replicasByNode = Collections.unmodifiableSequencedMap(new TreeMap<>(replicasByNode));
  }

  /** The same stretch with another end. */
  Segment until(@Nullable Instant end) {
    return new Segment(from, end, replicas, slots, replicasByNode, reason, message);
  }
}
