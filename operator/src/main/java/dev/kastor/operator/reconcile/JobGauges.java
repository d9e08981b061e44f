package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.status.JobStatusWriter;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/** Gauges over all jobs: how many are in each phase, what they hold, and who waits longest. */
@Singleton
final class JobGauges {
  private final ClusterCache cache;
  private final JobStatusWriter statuses;
  private final AllocationWriter allocations;
  private final Metrics metrics;
  private final InstantSource clock;

  JobGauges(
      ClusterCache cache,
      JobStatusWriter statuses,
      AllocationWriter allocations,
      Metrics metrics,
      InstantSource clock) {
    this.cache = cache;
    this.statuses = statuses;
    this.allocations = allocations;
    this.metrics = metrics;
    this.clock = clock;
  }

  /** Sets them to what holds now. */
  void pass() {
    Map<Phase, Integer> phases = new EnumMap<>(Phase.class);
    int allocated = 0;
    Instant now = clock.instant();
    Duration oldest = Duration.ZERO;
    for (TrainingJob job : cache.jobs()) {
      Phase phase = Objects.requireNonNullElse(statuses.phase(job), Phase.Queued);
      phases.merge(phase, 1, Integer::sum);
      if (phase == Phase.Queued) {
        Duration age =
            Duration.between(Instant.parse(job.getMetadata().getCreationTimestamp()), now);
        oldest = age.compareTo(oldest) > 0 ? age : oldest;
      }
      AllocationStatus allocation = allocations.current(job);
      allocated += allocation == null ? 0 : allocation.slots();
    }
    for (Phase phase : Phase.values()) {
      metrics.phase(phase.name(), phases.getOrDefault(phase, 0));
    }
    metrics.allocated(allocated);
    metrics.oldestQueued(oldest);
    metrics.watching(cache.watching());
  }
}
