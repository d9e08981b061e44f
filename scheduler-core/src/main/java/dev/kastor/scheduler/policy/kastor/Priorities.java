package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.JobState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * What jobs count by their priorities: each level that is in use counts ten times the next lower
 * one, however far apart their numbers are, but all levels together at most a million times. Where
 * more than seven are in use, the lowest share the last factor of ten: whoever spreads jobs over
 * many low levels brings nobody above them closer together.
 */
final class Priorities {
  private static final double LEVEL = 10;
  private static final int MOST_LEVELS = 6;

  private final Map<Integer, Double> weights = new HashMap<>();

  Priorities(List<JobState> jobs) {
    TreeSet<Integer> levels = new TreeSet<>();
    jobs.forEach(job -> levels.add(job.spec().priority()));
    int crowded = Math.max(1, levels.size() - MOST_LEVELS);
    for (int level : levels) {
      int place = weights.size();
      double exponent = place < crowded ? (double) place / crowded : place - crowded + 1;
      weights.put(level, Math.pow(LEVEL, exponent));
    }
  }

  /** 1 for a job of the lowest priority in use. */
  double weight(JobState job) {
    return weights.getOrDefault(job.spec().priority(), 1.0);
  }
}
