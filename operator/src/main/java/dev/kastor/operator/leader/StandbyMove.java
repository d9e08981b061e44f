package dev.kastor.operator.leader;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.readiness.Readiness;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has an operator on standby leave the node of the leader once another node takes it: a node that
 * is lost with all operators takes Kubernetes a minute and a half to replace them.
 *
 * <p>Kubernetes places a pod once and never moves it, so operators that fled from a drained node
 * stay together when it is back. Only a node that began to take pods after we were placed is a
 * reason to leave, for the scheduler has chosen among all others: nobody leaves twice for the same
 * one. Used by one thread.
 */
final class StandbyMove {
  /** So long a node must have taken pods: one that comes and goes helps nobody. */
  static final Duration STEADY = Duration.ofSeconds(15);

  private static final Logger LOG = LoggerFactory.getLogger(StandbyMove.class);

  private final KubernetesClient client;
  private final String namespace;
  private final Optional<String> own;
  private final Supplier<? extends Collection<Node>> nodes;
  private final LongSupplier nanos;
  private final Map<String, Long> cameAt = new HashMap<>();
  private @Nullable Set<String> known;

  /**
   * @param own our own pod; empty outside a cluster, where nothing is moved
   * @param nodes the nodes that are ready and not cordoned, as of now
   * @param nanos a clock that never jumps
   */
  StandbyMove(
      KubernetesClient client,
      String namespace,
      Optional<String> own,
      Supplier<? extends Collection<Node>> nodes,
      LongSupplier nanos) {
    this.client = client;
    this.namespace = namespace;
    this.own = own;
    this.nodes = nodes;
    this.nanos = nanos;
  }

  /** Looks at the nodes, and deletes our pod if it is better made again elsewhere. */
  void look() {
    if (own.isEmpty()) {
      return;
    }
    Map<String, Node> open =
        nodes.get().stream()
            .collect(Collectors.toMap(node -> node.getMetadata().getName(), node -> node));
    Set<String> before = known;
    if (before == null) {
      known = new HashSet<>(open.keySet());
      return;
    }
    long now = nanos.getAsLong();
    before.retainAll(open.keySet());
    cameAt.keySet().retainAll(open.keySet());
    open.keySet().stream()
        .filter(name -> !before.contains(name))
        .forEach(name -> cameAt.putIfAbsent(name, now));
    Set<String> steady =
        cameAt.entrySet().stream()
            .filter(came -> now - came.getValue() >= STEADY.toNanos())
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet());
    if (steady.isEmpty()) {
      return;
    }
    try {
      leaveFor(steady.stream().map(open::get).toList());
      before.addAll(steady);
      cameAt.keySet().removeAll(steady);
    } catch (KubernetesClientException e) {
      LOG.debug("could not look where the leader is: {}", e.getMessage());
    }
  }

  private void leaveFor(Collection<Node> others) {
    Pod pod = client.pods().inNamespace(namespace).withName(own.orElseThrow()).get();
    if (pod == null || pod.getMetadata().getDeletionTimestamp() != null) {
      return;
    }
    String node = pod.getSpec().getNodeName();
    Optional<Node> better =
        others.stream()
            .filter(other -> !other.getMetadata().getName().equals(node))
            .filter(other -> NodeFit.fits(pod, other))
            .findAny();
    boolean together =
        client
            .pods()
            .inNamespace(namespace)
            .withLabel(LeaderLabel.KEY, LeaderLabel.VALUE)
            .list()
            .getItems()
            .stream()
            // While it is not well we are who takes over.
            .filter(Readiness::isPodReady)
            .anyMatch(leader -> leader.getSpec().getNodeName().equals(node));
    if (better.isPresent() && together) {
      LOG.info(
          "leaves node {}, where the leader is too: node {} takes pods now",
          node,
          better.get().getMetadata().getName());
      var _ = client.pods().resource(pod).delete();
    }
  }
}
