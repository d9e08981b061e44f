package dev.kastor.operator.lifecycle;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.Refusal;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.mapping.JobSpecs;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.PodCheck;
import dev.kastor.operator.pods.PodPlan;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ProfileStore;
import dev.kastor.operator.status.JobReason;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Reason;
import jakarta.inject.Singleton;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settlement of refusals: slots for which the API server takes no pods, or whose pods no kubelet is
 * going to start, are given back at once, so that others get them. The job goes on with the pods
 * that it has if those are an allowed size.
 */
@Singleton
public final class Refusals {
  private static final Logger LOG = LoggerFactory.getLogger(Refusals.class);

  private final JobPods pods;
  private final PodCheck check;
  private final ProfileStore profiles;
  private final AllocationWriter allocations;
  private final EventRecorder events;
  private final InstantSource clock;

  public Refusals(
      JobPods pods,
      PodCheck check,
      ProfileStore profiles,
      AllocationWriter allocations,
      EventRecorder events,
      InstantSource clock) {
    this.pods = pods;
    this.check = check;
    this.profiles = profiles;
    this.allocations = allocations;
    this.events = events;
    this.clock = clock;
  }

  /**
   * Takes from a job the slots for which the API server has just taken no pods.
   *
   * @param server whether what was refused is of a parameter server, without which no replica
   *     trains
   */
  public void settle(TrainingJob job, Refusal refusal, boolean server) {
    String message = "The API server refused a pod: %s".formatted(refusal.words());
    List<PodView> usable = server ? List.of() : pods.of(job);
    settle(job, Reason.of(JobReason.PodsRefused.name(), message), refusal.words(), usable);
  }

  /** Takes from a job that trains the slots of replicas whose containers are not going to run. */
  public void settleStuck(TrainingJob job) {
    Map<PodView, String> stuck = pods.stuckBefore(job, clock.instant().minus(JobLife.STUCK));
    if (!stuck.isEmpty()) {
      String words = stuck.values().stream().sorted().findFirst().orElseThrow();
      List<PodView> usable = new ArrayList<>(pods.of(job));
      usable.removeIf(stuck::containsKey);
      settle(
          job,
          Reason.of(JobReason.PodsCannotStart.name(), "More replicas cannot start: " + words),
          words,
          usable);
    }
  }

  private void settle(TrainingJob job, Reason reason, String words, List<PodView> usable) {
    LOG.warn("{}: {}", Labels.id(job), reason.message());
    events.warning(job, reason.code(), reason.message());
    profiles.of(job).ifPresent(profile -> check.refused(job, profile, words));
    AllocationStatus current = allocations.current(job);
    if (current == null || current.replicas() == 0) {
      return;
    }
    Allocation given = JobMapper.allocation(current);
    Map<String, Integer> there = new TreeMap<>();
    usable.stream().filter(PodView::live).forEach(pod -> there.merge(pod.node(), 1, Integer::sum));
    there.keySet().retainAll(given.replicasByNode().keySet());
    there.replaceAll(
        (node, count) -> Math.min(count, given.replicasByNode().getOrDefault(node, 0)));
    // The bounds of its spec: a size that its owner pinned would leave it with nothing.
    int least = PodCheck.least(job);
    AllowedReplicas allowed = JobSpecs.of(job).elasticity().allowed();
    int left = there.values().stream().mapToInt(Integer::intValue).sum();
    while (left >= least && !allowed.contains(left)) {
      left--;
    }
    if (left < least) {
      allocations.release(job, reason);
    } else if (left < given.replicas()) {
      allocations.write(
          job,
          new Allocation(PodPlan.first(left, there), given.slotsPerReplica()),
          current.atMost(),
          reason);
    }
  }
}
