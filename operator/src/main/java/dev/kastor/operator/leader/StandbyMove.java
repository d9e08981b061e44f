package dev.kastor.operator.leader;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.readiness.Readiness;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has an operator on standby leave the node of the leader once another node takes it: if a node is
 * lost with all operators, only Kubernetes can replace them, which takes it more than a minute.
 *
 * <p>Kubernetes places a pod once and never moves it, so operators that fled from a drained node
 * stay together when it is back. Where the pod is made again is for kube-scheduler to say; if it
 * comes back here, a note on the leader's pod makes the next one wait longer. Used by one thread.
 */
final class StandbyMove {
  /** So long a node must have taken pods: one that comes and goes helps nobody. */
  static final Duration STEADY = Duration.ofSeconds(15);

  /** From one leaving to the next; twice as long with each that did not help. */
  static final Duration LEAST = Duration.ofMinutes(1);

  /** On the leader's pod: how often a standby left its node in a row, and when it last did. */
  static final String NOTE = "kastor.dev/standby-left";

  private static final Duration BETWEEN_CHECKS = Duration.ofSeconds(5);
  private static final int MOST_DOUBLINGS = 6;
  private static final Logger LOG = LoggerFactory.getLogger(StandbyMove.class);

  private record Left(int times, Instant at) {
    static Left of(Pod leader) {
      Map<String, String> notes = leader.getMetadata().getAnnotations();
      String[] parts = notes == null ? new String[0] : notes.getOrDefault(NOTE, "").split(" ", -1);
      try {
        return parts.length == 2
            ? new Left(Integer.parseInt(parts[0]), Instant.parse(parts[1]))
            : new Left(0, Instant.MIN);
      } catch (RuntimeException e) {
        // Somebody else's words; the worst that comes of it is that a standby leaves once more.
        return new Left(0, Instant.MIN);
      }
    }

    Duration pause() {
      return times == 0
          ? Duration.ZERO
          : LEAST.multipliedBy(1L << Math.clamp(times - 1, 0, MOST_DOUBLINGS));
    }

    boolean mayAgain(Instant now) {
      return times == 0 || !now.isBefore(at.plus(pause()));
    }

    /** Once it has helped for as long as the pause, it has helped. */
    Left again(Instant now) {
      boolean helped = times == 0 || !now.isBefore(at.plus(pause().multipliedBy(2)));
      return new Left(helped ? 1 : times + 1, now);
    }
  }

  private final KubernetesClient client;
  private final String namespace;
  private final Optional<String> own;
  private final Supplier<? extends Collection<Node>> nodes;
  private final InstantSource clock;
  private final Map<String, Instant> openSince = new HashMap<>();
  private @Nullable Pod pod;
  private String apartFrom = "";
  private Instant checked = Instant.MIN;

  /**
   * @param own our own pod; empty outside a cluster, where nothing is moved
   * @param nodes the nodes that are ready and not cordoned, as of now
   */
  StandbyMove(
      KubernetesClient client,
      String namespace,
      Optional<String> own,
      Supplier<? extends Collection<Node>> nodes,
      InstantSource clock) {
    this.client = client;
    this.namespace = namespace;
    this.own = own;
    this.nodes = nodes;
    this.clock = clock;
  }

  /**
   * Leaves if that is right; asks the API server only where the leader is another than before.
   *
   * @param leader the pod that holds the lease; empty if nobody does
   */
  void look(String leader) {
    if (own.isEmpty() || leader.isEmpty() || leader.equals(own.get()) || leader.equals(apartFrom)) {
      return;
    }
    try {
      look(own.get(), leader);
    } catch (KubernetesClientException e) {
      LOG.debug("could not look where the leader is: {}", e.getMessage());
    }
  }

  private void look(String name, String leader) {
    Instant now = clock.instant();
    Pod self = self(name);
    if (self == null) {
      return;
    }
    Optional<String> better = better(self, now);
    if (better.isEmpty() || now.isBefore(checked.plus(BETWEEN_CHECKS))) {
      return;
    }
    checked = now;
    Pod other = client.pods().inNamespace(namespace).withName(leader).get();
    if (other == null
        || other.getMetadata().getDeletionTimestamp() != null
        || !Readiness.isPodReady(other)) {
      // While the leader is not well we are who takes over.
      return;
    }
    if (!self.getSpec().getNodeName().equals(other.getSpec().getNodeName())) {
      apartFrom = leader;
      return;
    }
    Left before = Left.of(other);
    if (before.mayAgain(now) && client.pods().inNamespace(namespace).withName(name).evict()) {
      LOG.info(
          "leaves node {}, where the leader is too: node {} takes pods",
          self.getSpec().getNodeName(),
          better.get());
      note(leader, before.again(now));
    }
  }

  /** Our pod, of which only that is read which does not change. */
  private @Nullable Pod self(String name) {
    Pod known = pod;
    if (known == null) {
      known = client.pods().inNamespace(namespace).withName(name).get();
      pod = known;
    }
    return known;
  }

  /** Another node that has taken pods like ours for a while. */
  private Optional<String> better(Pod self, Instant now) {
    Map<String, Instant> open =
        nodes.get().stream()
            .filter(node -> PodFit.fits(self, node))
            .map(node -> node.getMetadata().getName())
            .filter(node -> !node.equals(self.getSpec().getNodeName()))
            .collect(Collectors.toMap(node -> node, node -> openSince.getOrDefault(node, now)));
    openSince.clear();
    openSince.putAll(open);
    return open.entrySet().stream()
        .filter(node -> !now.isBefore(node.getValue().plus(STEADY)))
        .map(Map.Entry::getKey)
        .min(String::compareTo);
  }

  private void note(String leader, Left left) {
    client
        .pods()
        .inNamespace(namespace)
        .withName(leader)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"annotations\":{\"%s\":\"%d %s\"}}}"
                .formatted(NOTE, left.times(), left.at()));
  }
}
