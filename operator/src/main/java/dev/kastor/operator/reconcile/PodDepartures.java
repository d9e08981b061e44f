package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.nodes.NodeUses;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.PodView;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Removal of pods that are not wanted any more: a replica is given time to leave by itself. */
@Singleton
final class PodDepartures {
  private final ClusterCache cache;
  private final JobPods pods;
  private final NodeUses uses;
  private final Duration leaveGrace;
  private final InstantSource clock;
  private final Map<String, Map<String, Instant>> surplusSince;

  PodDepartures(
      JobRecords records,
      ClusterCache cache,
      JobPods pods,
      NodeUses uses,
      OperatorConfig config,
      InstantSource clock) {
    surplusSince = records.part();
    this.cache = cache;
    this.pods = pods;
    this.uses = uses;
    leaveGrace = config.agent().leaveGrace();
    this.clock = clock;
  }

  /**
   * Removes what a finished job still has running.
   *
   * @param patient whether replicas may end by themselves first
   * @return whether nothing runs any more
   */
  boolean clear(TrainingJob job, List<PodView> views, boolean patient) {
    Instant now = clock.instant();
    boolean clear = true;
    for (PodView pod : views) {
      if (pod.live()) {
        clear = false;
        if (patient) {
          dismiss(job, pod, now);
        } else {
          remove(job, pod);
        }
      }
    }
    return clear;
  }

  /** Gives a pod that is not wanted time to leave; true once it was removed. */
  boolean dismiss(TrainingJob job, PodView pod, Instant now) {
    Instant since = surplus(job).computeIfAbsent(pod.name(), name -> now);
    if (lost(pod) || overdue(pod, since, leaveGrace, now)) {
      remove(job, pod);
      return true;
    }
    return false;
  }

  /**
   * Whether a pod has nothing to leave, or has had its time to.
   *
   * @param since since when it has not been wanted
   */
  static boolean overdue(PodView pod, Instant since, Duration grace, Instant now) {
    return pod.state() == PodView.State.PENDING || !now.isBefore(since.plus(grace));
  }

  /** Whether the node of the pod is lost, so that its slot is held by nothing that runs. */
  boolean lost(PodView pod) {
    return cache.node(pod.node()).filter(uses::lost).isPresent();
  }

  /** Removes a pod now. */
  void remove(TrainingJob job, PodView pod) {
    surplus(job).remove(pod.name());
    pods.delete(job, pod);
  }

  /** Since when pods of the job have not been wanted, by name. */
  private Map<String, Instant> surplus(TrainingJob job) {
    return surplusSince.computeIfAbsent(
        job.getMetadata().getUid(), uid -> new ConcurrentHashMap<>());
  }
}
