package dev.kastor.operator.lifecycle;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.pods.ClosedNodes;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.status.JobReason;
import dev.kastor.operator.status.JobStatusWriter;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Reason;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.TreeMap;

/**
 * Takes slots away for pods that kube-scheduler does not put where the scheduler wants them, such
 * as where a foreign pod was quicker. The next round then sees what is there.
 */
@Singleton
public final class Unbound {
  private final JobPods pods;
  private final AllocationWriter allocations;
  private final JobStatusWriter statuses;
  private final JobLife life;
  private final ClosedNodes closed;
  private final Duration patience;
  private final InstantSource clock;

  public Unbound(
      JobPods pods,
      AllocationWriter allocations,
      JobStatusWriter statuses,
      JobLife life,
      ClosedNodes closed,
      OperatorConfig config,
      InstantSource clock) {
    this.pods = pods;
    this.allocations = allocations;
    this.statuses = statuses;
    this.life = life;
    this.closed = closed;
    patience = config.agent().bindPatience();
    this.clock = clock;
  }

  /**
   * Looks at the job's pods; says when to look again, at most that late.
   *
   * @param trains whether others of them train, which then go on without
   */
  public Duration relieve(TrainingJob job, boolean trains, Duration most) {
    AllocationStatus current = allocations.current(job);
    Instant now = clock.instant();
    if (current == null
        || current.replicas() == 0
        || pods.unscheduledBefore(job, now.plusSeconds(1)).isEmpty()) {
      return most;
    }
    var unbound = pods.unscheduledBefore(job, now.minus(patience));
    if (!unbound.isEmpty()) {
      takeAway(job, current, unbound, trains);
    }
    return most.compareTo(patience) < 0 ? most : patience;
  }

  private void takeAway(
      TrainingJob job, AllocationStatus current, Map<PodView, String> unbound, boolean trains) {
    unbound.forEach((pod, words) -> closed.refused(job, pod.node(), words));
    String message =
        "kube-scheduler finds no room on the chosen node: "
            + String.join("; ", unbound.values().stream().sorted().toList());
    if (!trains) {
      life.giveUp(
          job, statuses.times(job).failedStarts(), JobReason.PodUnschedulable, message, patience);
      return;
    }
    Allocation given = JobMapper.allocation(current);
    var left = new TreeMap<>(given.replicasByNode());
    unbound.keySet().forEach(pod -> left.merge(pod.node(), -1, Integer::sum));
    left.values().removeIf(count -> count < 1);
    if (!left.isEmpty()) {
      allocations.write(
          job,
          new Allocation(left, given.slotsPerReplica()),
          current.atMost(),
          Reason.of(JobReason.PodUnschedulable.name(), message));
    }
  }
}
