package dev.kastor.e2e.suite;

import java.time.Duration;
import java.util.List;

/** Times of one kind, summed up. */
public record Spread(List<Duration> times) {
  private static final double MEDIAN = 0.5;
  private static final double HIGH = 0.95;
  private static final double MILLIS = 1e3;

  public Spread {
    times = times.stream().sorted().toList();
  }

  public Duration p50() {
    return at(MEDIAN);
  }

  public Duration p95() {
    return at(HIGH);
  }

  /** The smallest time that this share of all does not exceed. */
  private Duration at(double share) {
    if (times.isEmpty()) {
      throw new IllegalStateException("no times were measured");
    }
    return times.get((int) Math.ceil(share * times.size()) - 1);
  }

  @Override
  public String toString() {
    if (times.isEmpty()) {
      return "never measured";
    }
    return "p50 %.2f s, p95 %.2f s, longest %.2f s, %d times"
        .formatted(
            p50().toMillis() / MILLIS,
            p95().toMillis() / MILLIS,
            times.getLast().toMillis() / MILLIS,
            times.size());
  }
}
