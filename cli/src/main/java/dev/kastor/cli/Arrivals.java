package dev.kastor.cli;

import dev.kastor.crds.TrainingJob;
import dev.kastor.crds.TrainingJobStatus;
import java.time.Duration;
import java.util.List;

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
   * The second job once the first has had time to spread, so that it is seen to make room; the
   * others soon after.
   */
  record OnceSpread(Duration patience, Duration gap) implements Arrivals {
    @Override
    public boolean due(List<Duration> offsets, Duration passed, List<TrainingJob> jobs) {
      return switch (offsets.size()) {
        case 0 -> true;
        case 1 -> passed.compareTo(patience) >= 0 || jobs.stream().anyMatch(OnceSpread::hasSpread);
        default -> passed.minus(offsets.getLast()).compareTo(gap) >= 0;
      };
    }

    private static boolean hasSpread(TrainingJob job) {
      TrainingJobStatus status = job.getStatus();
      return status != null && status.training() != null && status.training().maxReplicas() > 1;
    }
  }

  /** As in an earlier run, so that the two compare. */
  record AsBefore(List<Duration> earlier) implements Arrivals {
    public AsBefore {
      earlier = List.copyOf(earlier);
    }

    @Override
    public boolean due(List<Duration> offsets, Duration passed, List<TrainingJob> jobs) {
      return passed.compareTo(earlier.get(offsets.size())) >= 0;
    }
  }
}
