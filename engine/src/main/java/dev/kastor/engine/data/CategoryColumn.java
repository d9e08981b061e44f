package dev.kastor.engine.data;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A column of a table while it is read: its different values, and which of them each row has. */
final class CategoryColumn {
  /** Odd, near 2^64 over the golden ratio: neighbours end far apart. */
  private static final long SPREAD = 0x9e3779b97f4a7c15L;

  private final Map<String, Integer> numbers = new LinkedHashMap<>();
  private int[] rows = new int[1024];
  private int count;

  void add(String field) {
    if (count == rows.length) {
      rows = Arrays.copyOf(rows, Math.multiplyExact(count, 2));
    }
    rows[count++] = numbers.computeIfAbsent(field, _ -> numbers.size());
  }

  /**
   * The bucket of each row.
   *
   * @param most buckets there may be
   * @param training rows whose numbers decide where ranges of numbers end
   */
  int[] buckets(int most, int[] training) {
    int[] ofValue = numbers.size() <= most ? inOrder() : ranged(most, training);
    return Arrays.stream(rows, 0, count).map(number -> ofValue[number]).toArray();
  }

  private int[] inOrder() {
    int[] buckets = new int[numbers.size()];
    Arrays.setAll(buckets, i -> i);
    return buckets;
  }

  /** Buckets of values that are too many to have one each. */
  private int[] ranged(int most, int[] training) {
    List<String> values = new ArrayList<>(numbers.keySet());
    double[] parsed = new double[values.size()];
    for (int i = 0; i < parsed.length; i++) {
      try {
        parsed[i] = values.get(i).isEmpty() ? Double.NaN : Double.parseDouble(values.get(i));
      } catch (NumberFormatException e) {
        return values.stream().mapToInt(value -> hashed(value.hashCode(), most)).toArray();
      }
    }
    // What is no number has the first bucket to itself.
    int first = Arrays.stream(parsed).anyMatch(Double::isNaN) ? 1 : 0;
    double[] sorted =
        Arrays.stream(training)
            .mapToDouble(row -> parsed[rows[row]])
            .filter(value -> !Double.isNaN(value))
            .sorted()
            .toArray();
    int ranges = most - first;
    double[] ends = new double[sorted.length == 0 ? 0 : ranges - 1];
    Arrays.setAll(ends, i -> sorted[(int) ((long) sorted.length * (i + 1) / ranges)]);
    return Arrays.stream(parsed)
        .mapToInt(value -> Double.isNaN(value) ? 0 : first + reached(ends, value))
        .toArray();
  }

  /** How many of the sorted ends are not above a value. */
  private static int reached(double[] ends, double value) {
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

  /** One of so many buckets for a key. */
  static int hashed(long key, int buckets) {
    return (int) Long.remainderUnsigned((key * SPREAD) >>> 20, buckets);
  }
}
