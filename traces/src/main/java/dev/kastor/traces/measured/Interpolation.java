package dev.kastor.traces.measured;

/** Straight lines between measured points. */
final class Interpolation {
  private Interpolation() {}

  /**
   * Where {@code x} lies in rising {@code points}: the index of the interval's lower end plus the
   * share of the interval; not a number outside of the points.
   */
  static double position(int[] points, double x) {
    int last = points.length - 1;
    if (x < points[0] || x > points[last]) {
      return Double.NaN;
    }
    int below = 0;
    while (below < last && points[below + 1] <= x) {
      below++;
    }
    if (below == last) {
      return last;
    }
    return below + (x - points[below]) / (points[below + 1] - points[below]);
  }

  /** The value at a {@link #position}. */
  static double at(double[] values, double position) {
    int below = (int) position;
    double share = position - below;
    return share == 0 ? values[below] : values[below] + share * (values[below + 1] - values[below]);
  }
}
