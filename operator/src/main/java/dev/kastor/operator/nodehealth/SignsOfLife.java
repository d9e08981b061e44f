package dev.kastor.operator.nodehealth;

import dev.kastor.operator.kube.ApiBackoff;
import dev.kastor.operator.kube.PodPlace;
import dev.kastor.operator.leader.Awake;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.signal.Mandate;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Signs of life of replicas, by node.
 *
 * <p>When the API server did not answer lately, or we ourselves stood still, silence says nothing:
 * it counts from the end of the trouble.
 */
@Singleton
final class SignsOfLife {
  /** How long after our predecessor's end we look for those who ended with it. */
  private static final Duration SUCCESSION = Duration.ofMinutes(1);

  private final MembershipService membership;
  private final ApiBackoff api;
  private final Mandate mandate;
  private final Awake awake;
  private final InstantSource clock;

  SignsOfLife(
      MembershipService membership,
      ApiBackoff api,
      Mandate mandate,
      Awake awake,
      InstantSource clock) {
    this.membership = membership;
    this.api = api;
    this.mandate = mandate;
    this.awake = awake;
    this.clock = clock;
  }

  /** The newest sign of life on each node that has one, by name of the node. */
  Map<String, Instant> byNode(List<Pod> pods) {
    Instant from = latest(latest(mandate.since(), awake.since()), api.lastTrouble());
    boolean successor = clock.instant().isBefore(mandate.since().plus(SUCCESSION));
    Map<String, Instant> heard = new HashMap<>();
    for (Pod pod : pods) {
      boolean runs = pod.getStatus() != null && "Running".equals(pod.getStatus().getPhase());
      if (!runs || pod.getMetadata().getDeletionTimestamp() != null) {
        continue;
      }
      Optional<Instant> seen = membership.lastSign(pod);
      // One that never spoke to us is still starting, or it died with our predecessor.
      boolean witness = seen.isPresent() || (successor && ranBefore(pod));
      if (witness) {
        Instant sign = latest(seen.orElse(from), from);
        heard.merge(PodPlace.meant(pod), sign, SignsOfLife::latest);
      }
    }
    return heard;
  }

  private boolean ranBefore(Pod pod) {
    String created = pod.getMetadata().getCreationTimestamp();
    return created != null && Instant.parse(created).isBefore(mandate.since());
  }

  private static Instant latest(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }
}
