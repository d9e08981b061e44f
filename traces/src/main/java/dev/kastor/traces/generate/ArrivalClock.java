package dev.kastor.traces.generate;

/**
 * Turns evenly spread numbers into submission times that follow a study's hours and days: the
 * inverse of its rate, summed from the start of the replay. A fixed number of such times is a
 * Poisson process of that rate, given how many came.
 */
final class ArrivalClock {
  private static final double HOUR = 3600;

  /** Submissions expected up to the end of each hour, in any unit. */
  private final double[] upTo;

  private final double spanSeconds;

  /**
   * Times of a span that begins on a Monday.
   *
   * @param startHour hour of that day, 0 to 23
   */
  ArrivalClock(ClusterStudy study, int startHour, double spanSeconds) {
    this.spanSeconds = spanSeconds;
    upTo = new double[(int) Math.ceil(spanSeconds / HOUR)];
    double sum = 0;
    for (int h = 0; h < upTo.length; h++) {
      int hour = startHour + h;
      double share = Math.min(1, spanSeconds / HOUR - h);
      sum += share * study.byHour().get(hour % 24) * study.byDay().get(hour / 24 % 7);
      upTo[h] = sum;
    }
  }

  /**
   * The time before which a share of the submissions comes.
   *
   * @param share in [0, 1)
   */
  double seconds(double share) {
    double expected = share * upTo[upTo.length - 1];
    int hour = 0;
    while (upTo[hour] <= expected) {
      hour++;
    }
    double before = hour == 0 ? 0 : upTo[hour - 1];
    double length = Math.min(HOUR, spanSeconds - hour * HOUR);
    return hour * HOUR + length * (expected - before) / (upTo[hour] - before);
  }
}
