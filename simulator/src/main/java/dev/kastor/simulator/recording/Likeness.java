package dev.kastor.simulator.recording;

import java.util.Arrays;
import java.util.List;

/**
 * Likeness of a replay to what really happened, in the completion times of jobs.
 *
 * @param pairs the jobs that can be compared, at least one
 */
public record Likeness(List<Pair> pairs) {
  /**
   * Completion times of one job.
   *
   * @param realSeconds what happened
   * @param replayedSeconds in the replay
   */
  public record Pair(String job, double realSeconds, double replayedSeconds) {
    /** By how much the replay differs, as a share of what happened. */
    double error() {
      return Math.abs(replayedSeconds - realSeconds) / realSeconds;
    }
  }

  public Likeness {
    pairs = List.copyOf(pairs);
    if (pairs.isEmpty()) {
      throw new IllegalArgumentException("a comparison needs at least one job");
    }
  }

  /** Mean of what happened. */
  public double realMean() {
    return pairs.stream().mapToDouble(Pair::realSeconds).average().orElseThrow();
  }

  /** Mean in the replay. */
  public double replayedMean() {
    return pairs.stream().mapToDouble(Pair::replayedSeconds).average().orElseThrow();
  }

  /** By how much the mean of the replay is above that of what happened, as a share of it. */
  public double meanError() {
    return replayedMean() / realMean() - 1;
  }

  /** Half of the jobs differ by no more than this share of their real completion time. */
  public double medianError() {
    double[] sorted = pairs.stream().mapToDouble(Pair::error).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1
        ? sorted[middle]
        : Arrays.stream(sorted, middle - 1, middle + 1).average().orElseThrow();
  }
}
