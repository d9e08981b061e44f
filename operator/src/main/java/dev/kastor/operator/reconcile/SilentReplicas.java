package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.leader.Awake;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.pods.Patience;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.signal.Mandate;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Replacement of replicas that have been silent for too long. */
@Singleton
final class SilentReplicas {
  private static final Logger LOG = LoggerFactory.getLogger(SilentReplicas.class);

  private final MembershipService membership;
  private final PodDepartures departures;
  private final Mandate mandate;
  private final Awake awake;
  private final EventRecorder events;
  private final Duration silence;

  SilentReplicas(
      MembershipService membership,
      PodDepartures departures,
      Mandate mandate,
      Awake awake,
      EventRecorder events,
      OperatorConfig config) {
    this.membership = membership;
    this.departures = departures;
    this.mandate = mandate;
    this.awake = awake;
    this.events = events;
    silence = config.agent().silence();
  }

  /** Replaces a replica that runs and has not spoken for too long. */
  void replaceIfSilent(TrainingJob job, PodView pod, Instant now) {
    if (pod.state() != PodView.State.RUNNING) {
      return;
    }
    new Patience(silence)
        .exceeded(
            membership.lastSeen(job, pod.name()),
            pod.created(),
            mandate.since(),
            awake.since(),
            now)
        .ifPresent(silent -> {
          String message =
              "%s has been silent for %d s and is replaced"
                  .formatted(pod.name(), silent.toSeconds());
          events.warning(job, "ReplicaSilent", message);
          LOG.warn("{}: {}", Labels.id(job), message);
          departures.remove(job, pod);
        });
  }
}
