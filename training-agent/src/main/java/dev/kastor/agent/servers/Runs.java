package dev.kastor.agent.servers;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Touched;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Runs of consecutive elements of a shard, ascending and apart: what a share of examples reads of
 * it, and where its gradient may differ from zero.
 */
public final class Runs {
  /** More of them than this are not worth their bytes, and make no message. */
  private static final int MOST = 1 << 12;

  private final int[] bounds;
  private final int elements;

  /**
   * Runs between bounds.
   *
   * @param bounds run {@code i} has the elements {@code [bounds[2i], bounds[2i + 1])}
   * @throws IllegalArgumentException if a run is empty, or begins where none may
   */
  Runs(int... bounds) {
    int length = 0;
    int end = -1;
    for (int i = 0; i + 1 < bounds.length; i += 2) {
      if (bounds[i] <= end || bounds[i + 1] <= bounds[i]) {
        throw new IllegalArgumentException(
            "a run of [%d, %d) behind %d".formatted(bounds[i], bounds[i + 1], end));
      }
      end = bounds[i + 1];
      length += end - bounds[i];
    }
    if (bounds.length % 2 != 0) {
      throw new IllegalArgumentException("a run without an end");
    }
    this.bounds = bounds;
    this.elements = length;
  }

  /** All elements of a vector. */
  public static Runs all(int elements) {
    return elements == 0 ? new Runs() : new Runs(0, elements);
  }

  /** Runs of a shard that a share reads. */
  public static Runs of(ShardPlan plan, int shard, List<Touched> touched) {
    int from = plan.from(shard);
    int to = plan.to(shard);
    Growing runs = new Growing();
    for (int i = 0; i < plan.layout().entries().size(); i++) {
      int number = i;
      Layout.Entry entry = plan.layout().entries().get(i);
      int begin = Math.max(from, entry.offset());
      int end = Math.min(to, entry.end());
      if (begin >= end) {
        continue;
      }
      int[] rows =
          touched.stream()
              .filter(each -> each.entry() == number)
              .findFirst()
              .map(Touched::rows)
              .orElse(null);
      if (rows == null) {
        runs.add(begin - from, end - from);
      } else {
        int width = ShardPlan.width(entry);
        for (int row : rows) {
          int first = entry.offset() + row * width;
          if (first >= begin && first < end) {
            runs.add(first - from, first - from + width);
          }
        }
      }
    }
    return runs.count > 2 * MOST ? all(to - from) : runs.done();
  }

  /** Bounds to which runs are appended whose beginnings ascend. */
  private static final class Growing {
    int[] bounds = new int[64];
    int count;

    void add(int from, int to) {
      if (count > 0 && bounds[count - 1] >= from) {
        bounds[count - 1] = Math.max(bounds[count - 1], to);
        return;
      }
      if (count + 2 > bounds.length) {
        bounds = Arrays.copyOf(bounds, bounds.length * 2);
      }
      bounds[count++] = from;
      bounds[count++] = to;
    }

    Runs done() {
      return new Runs(Arrays.copyOf(bounds, count));
    }
  }

  /** Elements of all runs together. */
  public int elements() {
    return elements;
  }

  /** Whether they are runs of a vector of so many elements. */
  public boolean fits(int length) {
    return bounds.length == 0 || (bounds[0] >= 0 && bounds[bounds.length - 1] <= length);
  }

  /**
   * Copies their elements side by side.
   *
   * @param offset of the shard in the vector
   */
  public void gather(float[] vector, int offset, float[] packed) {
    int at = 0;
    for (int i = 0; i < bounds.length; i += 2) {
      int length = bounds[i + 1] - bounds[i];
      System.arraycopy(vector, offset + bounds[i], packed, at, length);
      at += length;
    }
  }

  /** Copies them back; all other elements stay as they are. */
  public void scatter(float[] packed, float[] vector, int offset) {
    int at = 0;
    for (int i = 0; i < bounds.length; i += 2) {
      int length = bounds[i + 1] - bounds[i];
      System.arraycopy(packed, at, vector, offset + bounds[i], length);
      at += length;
    }
  }

  /** All elements of several. */
  static Runs union(List<Runs> all) {
    if (all.stream().distinct().count() == 1) {
      return all.getFirst();
    }
    long[] apart =
        all.stream()
            .flatMapToLong(each ->
                IntStream.range(0, each.bounds.length / 2)
                    .mapToLong(i -> (long) each.bounds[2 * i] << 32 | each.bounds[2 * i + 1]))
            .sorted()
            .toArray();
    Growing runs = new Growing();
    for (long each : apart) {
      runs.add((int) (each >> 32), (int) each);
    }
    return runs.done();
  }

  /**
   * Adds them to a vector, and 0 to the other elements of a union of runs: the bits of a sum with a
   * vector that is 0 there, which makes 0 of -0.
   */
  void add(float[] packed, float[] vector, Runs union) {
    int at = 0;
    int own = 0;
    for (int i = 0; i < union.bounds.length; i += 2) {
      int j = union.bounds[i];
      while (own < bounds.length && bounds[own] < union.bounds[i + 1]) {
        addZero(vector, j, bounds[own]);
        for (j = bounds[own]; j < bounds[own + 1]; j++) {
          vector[j] += packed[at++];
        }
        own += 2;
      }
      addZero(vector, j, union.bounds[i + 1]);
    }
  }

  private static void addZero(float[] vector, int from, int to) {
    for (int i = from; i < to; i++) {
      vector[i] += 0f;
    }
  }

  /** Makes them zero. */
  void clear(float[] vector) {
    for (int i = 0; i < bounds.length; i += 2) {
      Arrays.fill(vector, bounds[i], bounds[i + 1], 0);
    }
  }

  /** Multiplies them, and sums their squares. */
  double scale(float[] vector, float factor) {
    double squares = 0;
    for (int i = 0; i < bounds.length; i += 2) {
      for (int j = bounds[i]; j < bounds[i + 1]; j++) {
        vector[j] *= factor;
        squares += (double) vector[j] * vector[j];
      }
    }
    return squares;
  }

  /** Bounds of all, as their constructor takes them. */
  IntStream bounds() {
    return Arrays.stream(bounds);
  }

  /** Number of bounds. */
  int count() {
    return bounds.length;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Runs runs && Arrays.equals(bounds, runs.bounds);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bounds);
  }

  @Override
  public String toString() {
    return "%d elements in %d runs".formatted(elements, bounds.length / 2);
  }
}
