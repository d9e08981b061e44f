package dev.kastor.scheduler.model;

import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.Measured;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Facts of one job as a host knows them, from which every host builds what a policy sees: a replay
 * proves something about a cluster only where both tell policies the same.
 *
 * @param spec what was asked for, in the queue that counts
 * @param allocations what it was given so far
 * @param training whether it has trained with the allocation that it has
 * @param measured what its replicas reported
 * @param pinned whether its allocation must stay as it is
 * @param foresight what only a simulator knows
 */
public record JobFacts(
    JobSpec spec,
    AllocationHistory allocations,
    boolean training,
    Measured measured,
    boolean pinned,
    Optional<Foresight> foresight) {
  /** The job as a policy sees it at {@code now}. */
  public JobState state(AssumedPauses assumed, Instant now) {
    Allocation current = allocations.allocation();
    boolean restarts = spec.elasticity() instanceof Elasticity.Restarting;
    Duration live = measured.rescalePause().orElse(assumed.rescale());
    Duration restart = measured.restartPause().orElseGet(() -> longer(assumed.restart(), live));
    return new JobState(
        fitting(),
        current,
        measured.model(),
        measured.maxProfiledReplicas(),
        measured.progress(),
        AllocationHistory.sinceOrZero(spec.submitted(), now),
        allocations.attainedService(now),
        allocations.restarts(),
        // The next change of a job that holds nothing is a start, as is any of one that restarts.
        current.isEmpty() || restarts ? restart : live,
        restart,
        assumed.start().orElse(restart),
        allocations.since().map(at -> AllocationHistory.sinceOrZero(at, now)).orElse(Duration.ZERO),
        unsaved(now),
        pinned,
        !current.isEmpty() && !training,
        measured.outlook(),
        foresight);
  }

  /**
   * What was asked for, with batches that fit. A job that may not accumulate needs its share of the
   * initial batch in one pass: its sizes all stay possible, and its replicas get less than that.
   */
  private JobSpec fitting() {
    if (measured.mostExamples().isEmpty()) {
      return spec;
    }
    BatchLimits limits = spec.batchLimits();
    int share =
        limits.accumulation()
            ? 1
            : Math.ceilDiv(limits.initialGlobalBatch(), spec.elasticity().min());
    Map<String, Integer> most = new TreeMap<>(measured.mostExamples());
    most.replaceAll((type, fits) -> Math.max(fits, share));
    return spec.fitting(most);
  }

  /** Time since the newest checkpoint, or since it was given slots where that is later. */
  private Duration unsaved(Instant now) {
    return allocations
        .heldSince()
        .map(held -> measured.saved().filter(saved -> saved.isAfter(held)).orElse(held))
        .map(from -> AllocationHistory.sinceOrZero(from, now))
        .orElse(Duration.ZERO);
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) >= 0 ? one : other;
  }
}
