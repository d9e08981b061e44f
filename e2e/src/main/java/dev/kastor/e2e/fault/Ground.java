package dev.kastor.e2e.fault;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.readiness.Readiness;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Where faults happen, and what they are drawn with.
 *
 * @param system namespace of the operators
 * @param team namespace of the jobs
 */
public record Ground(KubernetesClient client, String system, String team, RandomGenerator random) {

  /** The operator that leads. */
  public Optional<Pod> leader() {
    return client
        .pods()
        .inNamespace(system)
        .withLabel("kastor.dev/leader", "true")
        .list()
        .getItems()
        .stream()
        .filter(Ground::runs)
        .findFirst();
  }

  /** Replicas that run, in the order of their names. */
  public List<Pod> replicas() {
    return client.pods().inNamespace(team).withLabel("kastor.dev/job").list().getItems().stream()
        .filter(Ground::runs)
        .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
        .toList();
  }

  /** The nodes of the operators that run. */
  public List<String> operators() {
    return runningOperators().map(pod -> pod.getSpec().getNodeName()).toList();
  }

  /** How many operators could lead. */
  public long readyOperators() {
    return runningOperators().filter(Readiness::isPodReady).count();
  }

  private Stream<Pod> runningOperators() {
    return client
        .pods()
        .inNamespace(system)
        .withLabel("app.kubernetes.io/part-of", "kastor")
        .list()
        .getItems()
        .stream()
        .filter(Ground::runs);
  }

  /** Replicas that run on a node. */
  public List<Pod> replicas(String node) {
    return replicas().stream().filter(pod -> node.equals(pod.getSpec().getNodeName())).toList();
  }

  /** Nodes, in the order of their names. */
  public List<String> nodes() {
    return client.nodes().list().getItems().stream()
        .map(Node::getMetadata)
        .map(meta -> meta.getName())
        .sorted()
        .toList();
  }

  /** A node on which replicas run, if there is one. */
  Optional<String> busyNode() {
    return any(nodes().stream().filter(node -> !replicas(node).isEmpty()).toList());
  }

  <T> Optional<T> any(List<T> things) {
    return things.isEmpty()
        ? Optional.empty()
        : Optional.of(things.get(random.nextInt(things.size())));
  }

  /** A time of so many to so many seconds. */
  Duration seconds(int least, int most) {
    return Duration.ofSeconds(random.nextInt(least, most + 1));
  }

  private static boolean runs(Pod pod) {
    return pod.getMetadata().getDeletionTimestamp() == null
        && "Running".equals(pod.getStatus().getPhase());
  }
}
