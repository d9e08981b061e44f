package dev.kastor.operator.lifecycle;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.Refusal;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.mapping.JobSpecs;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.PodCheck;
import dev.kastor.operator.pods.PodPlan;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ProfileStore;
import dev.kastor.operator.pods.StuckPods;
import dev.kastor.operator.status.JobReason;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Reason;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
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

  /** For how long a quota may count a pod that has gone. */
  private static final Duration COUNTED = Duration.ofSeconds(15);

  private final JobPods pods;
  private final PodCheck check;
  private final ProfileStore profiles;
  private final AllocationWriter allocations;
  private final EventRecorder events;
  private final StuckPods stuckPods;
  private final InstantSource clock;

  /** When pods of a job were last seen to leave. */
  private final Map<String, Instant> left;

  public Refusals(
      JobRecords records,
      JobPods pods,
      StuckPods stuckPods,
      PodCheck check,
      ProfileStore profiles,
      AllocationWriter allocations,
      EventRecorder events,
      InstantSource clock) {
    left = records.part();
    this.pods = pods;
    this.stuckPods = stuckPods;
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
    if (leavingLately(job)) {
      // A quota counts pods until they are gone, and a little longer: the same is asked again.
      LOG.info("{}: refused while its pods leave: {}", Labels.id(job), refusal.words());
      return;
    }
    String message = "The API server refused a pod: %s".formatted(refusal.words());
    List<PodView> usable = server ? List.of() : pods.of(job);
    settle(job, Reason.of(JobReason.PodsRefused.name(), message), refusal.words(), usable);
  }

  /** Notes whether pods of the job are leaving; call with each look at it. */
  public void look(TrainingJob job) {
    AllocationStatus current = allocations.current(job);
    Map<String, Integer> given = JobMapper.allocation(current).replicasByNode();
    Map<String, Integer> there = new TreeMap<>();
    boolean leaves = false;
    for (PodView pod : pods.of(job)) {
      if (!pod.ended()) {
        int pods = there.merge(pod.node(), 1, Integer::sum);
        leaves |= pod.deleting() || pods > given.getOrDefault(pod.node(), 0);
      }
    }
    if (leaves) {
      left.put(job.getMetadata().getUid(), clock.instant());
    }
  }

  private boolean leavingLately(TrainingJob job) {
    look(job);
    Instant last = left.get(job.getMetadata().getUid());
    return last != null && clock.instant().isBefore(last.plus(COUNTED));
  }

  /** Takes from a job that trains the slots of replicas whose containers are not going to run. */
  public void settleStuck(TrainingJob job) {
    Map<PodView, String> stuck = stuckPods.of(job);
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
    AllocationStatus current = allocations.current(job);
    Allocation given = JobMapper.allocation(current);
    Map<String, Integer> there = new TreeMap<>();
    usable.stream().filter(PodView::live).forEach(pod -> there.merge(pod.node(), 1, Integer::sum));
    there.keySet().retainAll(given.replicasByNode().keySet());
    there.replaceAll(
        (node, count) -> Math.min(count, given.replicasByNode().getOrDefault(node, 0)));
    // The bounds of its spec: a size that its owner pinned would leave it with nothing.
    int least = PodCheck.least(job);
    AllowedReplicas allowed = JobSpecs.of(job).elasticity().allowed();
    int usableReplicas = there.values().stream().mapToInt(Integer::intValue).sum();
    while (usableReplicas >= least && !allowed.contains(usableReplicas)) {
      usableReplicas--;
    }
    int kept = usableReplicas < least ? 0 : usableReplicas;
    profiles.of(job).ifPresent(profile -> check.refused(job, profile, words, kept));
    if (current == null || given.isEmpty()) {
      return;
    }
    if (kept == 0) {
      allocations.release(job, reason);
    } else if (kept < given.replicas()) {
      allocations.write(
          job,
          new Allocation(PodPlan.first(kept, there), given.slotsPerReplica()),
          current.atMost(),
          reason);
    }
  }
}
