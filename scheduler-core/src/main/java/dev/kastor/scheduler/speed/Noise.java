package dev.kastor.scheduler.speed;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Noise of comparisons of step times, by the owner of the jobs: whoever tells of times at random
 * makes only what the same owner says less sure. Owned by {@link NodeSpeeds}.
 */
final class Noise {
  private static final int KEPT = 256;
  private static final int ENOUGH = 16;
  private static final double LEAST = 0.04;
  private static final int MOST_OWNERS = 256;

  /** Assumed while comparisons are few. */
  private static final double FIRST = 0.3;

  /** Standard deviation of normal values over the median of their absolute values. */
  private static final double OF_MEDIAN = 1.48;

  private static final class OfOwner {
    private final Deque<Double> newest = new ArrayDeque<>();
    private int since;
    private @Nullable Double deviation;

    void add(double difference) {
      newest.addLast(difference);
      if (newest.size() > KEPT) {
        newest.removeFirst();
      }
      if (++since >= ENOUGH) {
        since = 0;
        deviation = Math.max(LEAST, OF_MEDIAN * median(newest));
      }
    }
  }

  private final SequencedMap<String, OfOwner> owners = new LinkedHashMap<>();

  /** Takes in how far a comparison is from what is known, as the logarithm of the ratio. */
  void add(String owner, double difference) {
    OfOwner known = owners.remove(owner);
    OfOwner of = known == null ? new OfOwner() : known;
    owners.putLast(owner, of);
    if (owners.size() > MOST_OWNERS) {
      var _ = owners.pollFirstEntry();
    }
    of.add(difference);
  }

  /**
   * Standard deviation of the logarithm of one comparison of an owner's jobs; the median of others
   * while too little is known of the owner.
   */
  double of(String owner) {
    OfOwner own = owners.get(owner);
    if (own != null && own.deviation != null) {
      return own.deviation;
    }
    List<Double> others = new ArrayList<>();
    for (OfOwner other : owners.values()) {
      if (other.deviation != null) {
        others.add(other.deviation);
      }
    }
    return others.isEmpty() ? FIRST : median(others);
  }

  private static double median(Collection<Double> values) {
    double[] sorted = values.stream().mapToDouble(each -> each).sorted().toArray();
    return sorted[sorted.length / 2];
  }
}
