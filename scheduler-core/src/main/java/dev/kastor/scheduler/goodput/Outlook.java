package dev.kastor.scheduler.goodput;

import dev.kastor.protocol.Progress;
import java.util.List;
import java.util.Optional;

/**
 * What is to be expected of a job's future by what its family went through.
 *
 * @param noise gradient noise over the course of the work; empty where nobody met it
 * @param finishedSteps scale-invariant steps of the family's jobs that ended, oldest first
 * @param confidence in the memory, from 0 (there is none) to 1
 */
public record Outlook(Optional<NoiseCurve> noise, List<Double> finishedSteps, double confidence) {
  /** A job of a family that nobody has met. */
  public static final Outlook NONE = new Outlook(Optional.empty(), List.of(), 0);

  public Outlook {
    finishedSteps = List.copyOf(finishedSteps);
  }

  /** Whether the total is more than a guess: declared, or known from the family's ended jobs. */
  public boolean knowsTotal(Progress progress) {
    return progress.totalScaleInvariantSteps() > 0
        || finishedSteps.stream().anyMatch(total -> total > progress.scaleInvariantSteps());
  }

  /**
   * Scale-invariant steps of the whole job: declared ones; else the median of the family's jobs
   * that went on longer than this one has so far; else twice what it has done, as is to be expected
   * of job lengths whose tail is a Pareto distribution of index 2. 0 before the first step of a job
   * of which nothing is known.
   */
  public double totalSteps(Progress progress) {
    if (progress.totalScaleInvariantSteps() > 0) {
      return progress.totalScaleInvariantSteps();
    }
    double done = progress.scaleInvariantSteps();
    double[] longer =
        finishedSteps.stream().mapToDouble(total -> total).filter(t -> t > done).sorted().toArray();
    return longer.length == 0 ? 2 * done : longer[longer.length / 2];
  }

  /** Done share of {@link #totalSteps} in [0, 1]; 0 where nothing is known. */
  public double fraction(Progress progress) {
    double total = totalSteps(progress);
    return total > 0 ? Math.min(1, progress.scaleInvariantSteps() / total) : 0;
  }
}
