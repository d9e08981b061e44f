package dev.kastor.engine.data;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Rule by which a field of a column has a bucket, one of so many. */
public sealed interface Buckets {
  /** The bucket of a field without one: none that the rule was made from had this value. */
  int UNKNOWN = -1;

  /** The bucket of a field, or {@link #UNKNOWN}. */
  int of(String field);

  /** How many buckets there are. */
  int count();

  /**
   * A bucket for each value.
   *
   * @param numbers the bucket of each, 0 and on, in this order
   */
  record Values(Map<String, Integer> numbers) implements Buckets {
    public Values {
      numbers = Collections.unmodifiableMap(new LinkedHashMap<>(numbers));
    }

    /** Buckets of values in their order. */
    static Values of(List<String> values) {
      Map<String, Integer> numbers = new LinkedHashMap<>();
      values.forEach(value -> numbers.put(value, numbers.size()));
      return new Values(numbers);
    }

    @Override
    public int of(String field) {
      return numbers.getOrDefault(field, UNKNOWN);
    }

    @Override
    public int count() {
      return numbers.size();
    }
  }

  /**
   * A bucket for each range of numbers.
   *
   * @param first the bucket of the lowest range; if it is 1, what is no number has bucket 0
   * @param ends where ranges end and the next ones begin, in ascending order
   * @param count how many buckets there are
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Ranges(int first, double[] ends, int count) implements Buckets {
    @Override
    public int of(String field) {
      double value = number(field);
      if (Double.isNaN(value)) {
        return first == 1 ? 0 : UNKNOWN;
      }
      return first + reached(value);
    }

    /** A field as a number; NaN if it is empty. */
    static double parse(String field) {
      return field.isEmpty() ? Double.NaN : Double.parseDouble(field);
    }

    private static double number(String field) {
      try {
        return parse(field);
      } catch (NumberFormatException e) {
        return Double.NaN;
      }
    }

    /** How many of the ends are not above a value. */
    private int reached(double value) {
      int low = 0;
      int high = ends.length;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (ends[middle] <= value) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    }

    /**
     * Ranges with about equally many numbers each.
     *
     * @param first the bucket of the lowest range
     * @param numbers those that decide where ranges end; NaN counts for nothing
     * @param count how many buckets there are
     */
    static Ranges over(int first, double[] numbers, int count) {
      double[] sorted =
          Arrays.stream(numbers).filter(value -> !Double.isNaN(value)).sorted().toArray();
      int ranges = count - first;
      double[] ends = new double[sorted.length == 0 ? 0 : ranges - 1];
      Arrays.setAll(ends, i -> sorted[(int) ((long) sorted.length * (i + 1) / ranges)]);
      return new Ranges(first, ends, count);
    }
  }

  /** Buckets that texts are hashed to. */
  record Hashed(int count) implements Buckets {
    /** Odd, near 2^64 over the golden ratio: neighbours end far apart. */
    private static final long SPREAD = 0x9e3779b97f4a7c15L;

    @Override
    public int of(String field) {
      return of(field.hashCode(), count);
    }

    /** One of so many buckets for a key. */
    static int of(long key, int buckets) {
      return (int) Long.remainderUnsigned((key * SPREAD) >>> 20, buckets);
    }
  }
}
