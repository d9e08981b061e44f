package dev.kastor.engine.data;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A column of a table while it is read: its different values, and which of them each row has. */
final class CategoryColumn {
  private final Map<String, Integer> numbers = new LinkedHashMap<>();
  private int[] rows = new int[1024];
  private int count;

  void add(String field) {
    if (count == rows.length) {
      rows = Arrays.copyOf(rows, Math.multiplyExact(count, 2));
    }
    rows[count++] = numbers.computeIfAbsent(field, _ -> numbers.size());
  }

  /** The bucket of each row. */
  int[] rows(Buckets buckets) {
    int[] ofValue = numbers.keySet().stream().mapToInt(buckets::of).toArray();
    return Arrays.stream(rows, 0, count).map(number -> ofValue[number]).toArray();
  }

  /**
   * The rule of the column: a bucket for each value, if there are so few.
   *
   * @param most buckets there may be
   * @param training rows whose numbers decide where ranges of numbers end
   */
  Buckets buckets(int most, int[] training) {
    List<String> values = new ArrayList<>(numbers.keySet());
    if (values.size() <= most) {
      return Buckets.Values.of(values);
    }
    double[] parsed = new double[values.size()];
    for (int i = 0; i < parsed.length; i++) {
      try {
        parsed[i] = Buckets.Ranges.parse(values.get(i));
      } catch (NumberFormatException e) {
        return new Buckets.Hashed(most);
      }
    }
    // What is no number has the first bucket to itself.
    int first = Arrays.stream(parsed).anyMatch(Double::isNaN) ? 1 : 0;
    double[] decisive = Arrays.stream(training).mapToDouble(row -> parsed[rows[row]]).toArray();
    return Buckets.Ranges.over(first, decisive, most);
  }
}
