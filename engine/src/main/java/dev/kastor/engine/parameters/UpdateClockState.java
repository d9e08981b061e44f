package dev.kastor.engine.parameters;

import java.util.SortedMap;
import java.util.TreeMap;

/** The updates of one session and their staleness. Thread-safe. */
final class UpdateClockState {
  private final SortedMap<Integer, Integer> counts = new TreeMap<>();
  private int now;

  synchronized int now() {
    return now;
  }

  synchronized int tick(int read) {
    int staleness = now - read;
    if (staleness < 0) {
      throw new IllegalArgumentException(
          "Variables cannot have been read at %d: it is %d.".formatted(read, now));
    }
    counts.merge(staleness, 1, Integer::sum);
    now++;
    return staleness;
  }

  synchronized float[] histogram(int most) {
    float[] histogram = new float[most + 1];
    counts.forEach((staleness, count) -> histogram[Math.min(staleness, most)] += count);
    return histogram;
  }
}
