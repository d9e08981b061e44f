package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.JobServers;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.nodes.NodeUse;
import dev.kastor.operator.nodes.NodeUses;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ServerPod;
import dev.kastor.operator.pods.ServerRoster;
import dev.kastor.scheduler.model.Allocation;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/**
 * Steps that make and remove the pods of a job's parameter servers: they are there while the job
 * has replicas, whatever its size, and one that ends is made again.
 */
@Singleton
final class ServerSteering {
  /** All else is signalled; silence alone is not. */
  private static final Duration LATER = Duration.ofSeconds(30);

  private static final Duration SOON = Duration.ofSeconds(1);

  private final ClusterCache cache;
  private final ServerCreation creation;
  private final PodDepartures departures;
  private final SilentReplicas silent;
  private final NodeUses uses;
  private final InstantSource clock;

  ServerSteering(
      ClusterCache cache,
      ServerCreation creation,
      PodDepartures departures,
      SilentReplicas silent,
      NodeUses uses,
      InstantSource clock) {
    this.cache = cache;
    this.creation = creation;
    this.departures = departures;
    this.silent = silent;
    this.uses = uses;
    this.clock = clock;
  }

  /**
   * One step; says when the next is due unless something happens before.
   *
   * @param replicas pods of the replicas, before any were made in this pass
   * @param view who trains and who was told to go
   * @param target the replicas that the job is to have
   */
  Duration steer(
      TrainingJob job,
      List<PodView> replicas,
      List<ServerPod> servers,
      Failures failures,
      FaultToleranceSpec tolerance,
      MembershipService.View view,
      Allocation target) {
    int wanted = target.isEmpty() ? 0 : JobServers.count(job);
    if (wanted == 0 && servers.isEmpty()) {
      return LATER;
    }
    Instant now = clock.instant();
    servers.stream()
        .map(ServerPod::view)
        .filter(pod -> pod.ended() && !pod.failed() && !pod.deleting())
        .forEach(pod -> departures.remove(job, pod));
    ServerRoster roster =
        ServerRoster.of(wanted, servers, view.dismissed(), pod -> departures.lost(pod));
    boolean waiting = false;
    for (ServerPod server : roster.surplus()) {
      waiting |= !departures.dismiss(job, server.view(), now);
    }
    for (ServerPod server : roster.kept()) {
      if (leaves(server.view())) {
        // It saves what it has and is made again elsewhere.
        departures.remove(job, server.view());
      } else if (!view.recovering()) {
        silent.replaceIfSilent(job, server.view(), now);
      }
    }
    // Without replicas there is nothing to serve, and replicas may wait long for their slots.
    if (roster.missing().isEmpty() || replicas.stream().noneMatch(PodView::live)) {
      return waiting ? SOON : LATER;
    }
    Instant attempt = failures.nextAttempt(tolerance);
    if (now.isBefore(attempt)) {
      return Duration.between(now, attempt).plusMillis(10);
    }
    return creation.make(job, replicas, servers, roster.missing()) ? LATER : SOON;
  }

  /** Whether the node of the pod is about to be taken away. */
  private boolean leaves(PodView pod) {
    return cache.node(pod.node()).filter(node -> uses.of(node) == NodeUse.LEAVE).isPresent();
  }
}
