package dev.kastor.cli.demo;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** When the demo submits its next job. */
sealed interface Arrivals {
  /**
   * Whether it is time.
   *
   * @param offsets when the jobs before it were submitted
   * @param passed time since the start
   * @param jobs those jobs
   */
  boolean due(List<Duration> offsets, Duration passed, List<TrainingJob> jobs);

  /**
   * The second job a while after the first has spread, so that it is seen to use the whole machine
   * and then to make room; the others soon after.
   */
  final class OnceSpread implements Arrivals {
    private final Duration patience;
    private final Duration alone;
    private final Duration gap;
    private @Nullable Duration spreadSince;

    /**
     * @param patience longest wait for the first job to spread
     * @param alone how long it then has the machine to itself
     * @param gap between later jobs
     */
    OnceSpread(Duration patience, Duration alone, Duration gap) {
      this.patience = patience;
      this.alone = alone;
      this.gap = gap;
    }

    @Override
    public boolean due(List<Duration> offsets, Duration passed, List<TrainingJob> jobs) {
      return switch (offsets.size()) {
        case 0 -> true;
        case 1 -> second(passed, jobs);
        default -> passed.minus(offsets.getLast()).compareTo(gap) >= 0;
      };
    }

    private boolean second(Duration passed, List<TrainingJob> jobs) {
      if (spreadSince == null && jobs.stream().anyMatch(OnceSpread::hasSpread)) {
        spreadSince = passed;
      }
      return spreadSince == null
          ? passed.compareTo(patience) >= 0
          : passed.minus(spreadSince).compareTo(alone) >= 0;
    }

    private static boolean hasSpread(TrainingJob job) {
      TrainingJobStatus status = job.getStatus();
      return status != null && status.training() != null && status.training().maxReplicas() > 1;
    }
  }

  /** At times that are given: those of an earlier run, so that the two compare, or of a plan. */
  record At(List<Duration> given) implements Arrivals {
    public At {
      given = List.copyOf(given);
    }

    @Override
    public boolean due(List<Duration> offsets, Duration passed, List<TrainingJob> jobs) {
      return passed.compareTo(given.get(offsets.size())) >= 0;
    }
  }
}
