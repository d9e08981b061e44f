package dev.kastor.operator.history;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Reason;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * The segments of one job, oldest first and without gaps.
 *
 * <p>When full, the shortest inner segment becomes part of the one before, which changes the
 * picture least. Not thread-safe.
 */
final class Timeline {
  private final int capacity;
  private final List<Segment> segments = new ArrayList<>();

  /** A timeline of at most {@code capacity} segments, at least 3. */
  Timeline(int capacity) {
    if (capacity < 3) {
      throw new IllegalArgumentException("capacity must be at least 3 but is " + capacity);
    }
    this.capacity = capacity;
  }

  /** Begins a segment, unless the allocation is the one already in force. */
  void begin(Allocation allocation, Reason reason, Instant at) {
    if (!segments.isEmpty()) {
      Segment last = segments.getLast();
      if (last.to() == null && last.replicasByNode().equals(allocation.replicasByNode())) {
        return;
      }
      end(at);
    }
    segments.add(
        new Segment(
            at,
            null,
            allocation.replicas(),
            allocation.slots(),
            allocation.replicasByNode(),
            reason.code(),
            reason.message()));
    if (segments.size() > capacity) {
      absorbShortest();
    }
  }

  /** Ends the segment that lasts. */
  void end(Instant at) {
    if (!segments.isEmpty() && segments.getLast().to() == null) {
      Segment last = segments.removeLast();
      segments.add(last.until(at.isBefore(last.from()) ? last.from() : at));
    }
  }

  private void absorbShortest() {
    int shortest = 1;
    for (int i = 2; i < segments.size() - 1; i++) {
      if (millis(i) < millis(shortest)) {
        shortest = i;
      }
    }
    Segment gone = segments.remove(shortest);
    segments.set(shortest - 1, segments.get(shortest - 1).until(gone.to()));
  }

  /** Length of an inner segment: inner ones have a successor, whose start is their end. */
  private long millis(int index) {
    return segments.get(index + 1).from().toEpochMilli()
        - segments.get(index).from().toEpochMilli();
  }

  List<Segment> segments() {
    return List.copyOf(segments);
  }
}
