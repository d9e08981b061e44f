package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.JobServers;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.InvalidTemplate;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ServerPod;
import dev.kastor.scheduler.model.Allocation;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;

/**
 * Steps that bring replicas, and the parameter servers that they train with, in line with the job's
 * allocation.
 */
@Singleton
final class MemberSteering {
  /** What a job's first server may take to say that the work is done, once others have ended. */
  private static final Duration LAST_WORD = Duration.ofSeconds(20);

  private static final Duration SOON = Duration.ofSeconds(1);

  private final ClusterCache cache;
  private final AllocationWriter allocations;
  private final MembershipService membership;
  private final PodSteering replicas;
  private final ServerSteering servers;
  private final InstantSource clock;

  MemberSteering(
      ClusterCache cache,
      AllocationWriter allocations,
      MembershipService membership,
      PodSteering replicas,
      ServerSteering servers,
      InstantSource clock) {
    this.cache = cache;
    this.allocations = allocations;
    this.membership = membership;
    this.replicas = replicas;
    this.servers = servers;
    this.clock = clock;
  }

  /**
   * One step; says when the next is due unless something happens before.
   *
   * @param own pods of the job's parameter servers
   * @throws InvalidTemplate if no pods can be made of the job's template
   */
  Duration steer(
      TrainingJob job,
      List<PodView> views,
      List<ServerPod> own,
      Failures failures,
      FaultToleranceSpec tolerance)
      throws InvalidTemplate {
    membership.evaluate(job);
    MembershipService.View view = membership.view(job);
    // The target after the view: a pod dismissed because of a change must not be replaced without
    // it.
    TrainingJob newest = cache.newest(job).orElse(job);
    AllocationStatus allocation = allocations.current(newest);
    Integer atMost = allocation == null ? null : allocation.atMost();
    Instant now = clock.instant();
    if (JobServers.count(job) > 0
        && Stream.concat(views.stream(), ServerPod.views(own).stream())
            .anyMatch(pod -> doneNow(pod, now))) {
      // None of them is to be made again if the job is done.
      return SOON;
    }
    Allocation target = allocations.target(newest, !views.isEmpty());
    Duration next = replicas.steer(job, views, failures, tolerance, view, target, atMost);
    Duration ofServers = servers.steer(job, views, own, failures, tolerance, view, target);
    return ofServers.compareTo(next) < 0 ? ofServers : next;
  }

  /** Whether a pod says that the work is done, and the first server may still say so too. */
  static boolean doneNow(PodView pod, Instant now) {
    return pod.completed() && now.isBefore(pod.finished().plus(LAST_WORD));
  }
}
