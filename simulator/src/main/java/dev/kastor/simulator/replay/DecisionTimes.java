package dev.kastor.simulator.replay;

import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import java.util.Arrays;

/**
 * Wall-clock milliseconds of a policy's decisions.
 *
 * @param count how many
 * @param mean of all
 * @param p99 that 99 % did not exceed
 * @param max the longest
 */
public record DecisionTimes(int count, double mean, double p99, double max) {
  /** A policy that is timed; owned by the thread that replays. */
  public static final class Timed implements Policy {
    private final Policy policy;
    private double[] millis = new double[1024];
    private int count;

    /** Times {@code policy}. */
    public Timed(Policy policy) {
      this.policy = policy;
    }

    @Override
    public Plan plan(Snapshot snapshot) {
      long before = System.nanoTime();
      Plan plan = policy.plan(snapshot);
      if (count == millis.length) {
        millis = Arrays.copyOf(millis, 2 * count);
      }
      millis[count++] = (System.nanoTime() - before) * 1e-6;
      return plan;
    }

    /** Of all calls so far. */
    public DecisionTimes times() {
      double[] sorted = Arrays.copyOf(millis, count);
      Arrays.sort(sorted);
      return count == 0
          ? new DecisionTimes(0, 0, 0, 0)
          : new DecisionTimes(
              count,
              Arrays.stream(sorted).average().orElse(0),
              sorted[(int) (0.99 * (count - 1))],
              sorted[count - 1]);
    }
  }
}
