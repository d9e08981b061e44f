package dev.kastor.operator.history;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Series that never outgrows its bound: when full it drops every second point and from then on
 * keeps only every second of those that arrive, so that the resolution is the same all along.
 *
 * <p>The first and the newest point are always there. Not thread-safe.
 */
public final class BoundedSeries<T> {
  /** Fewest points that a series can be bounded to. */
  public static final int LEAST = 4;

  private int capacity;
  private List<T> kept = new ArrayList<>();

  /** The newest point where it is not among the kept ones. */
  private @Nullable T newest;

  private long arrived;

  /** Every how many arrivals one is kept. */
  private long stride = 1;

  /** A series of at most {@code capacity} points, at least 4. */
  public BoundedSeries(int capacity) {
    if (capacity < LEAST) {
      throw new IllegalArgumentException("capacity must be at least 4 but is " + capacity);
    }
    this.capacity = capacity;
  }

  /** Adds the newest point. */
  public void add(T point) {
    newest = arrived % stride == 0 ? null : point;
    if (newest == null) {
      kept.add(point);
    }
    arrived++;
    shrink();
  }

  /** From now on at most so many points, if that is less than it may have; never less than 4. */
  void bound(int most) {
    capacity = Math.min(capacity, Math.max(most, LEAST));
    shrink();
  }

  private void shrink() {
    while (kept.size() >= capacity) {
      List<T> half = new ArrayList<>(capacity);
      for (int i = 0; i < kept.size(); i += 2) {
        half.add(kept.get(i));
      }
      if (kept.size() % 2 == 0 && newest == null) {
        newest = kept.getLast();
      }
      kept = half;
      stride *= 2;
    }
  }

  /** All points, oldest first; the last one is the newest that arrived. */
  public List<T> points() {
    T last = newest;
    if (last == null) {
      return List.copyOf(kept);
    }
    List<T> all = new ArrayList<>(kept);
    all.add(last);
    return List.copyOf(all);
  }
}
