package dev.kastor.e2e.watch;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Pods of jobs fit where the operator means them to be by kube-scheduler's own account, which
 * counts what all pods on a node ask for.
 *
 * <p>What kube-scheduler knows of pods that have just gone may be older than what the operator
 * knows, and a node that is not whole takes no pod: both are borne.
 */
final class SchedulerAgrees implements Rule {
  /** Shorter than the time after which the operator takes the slots back. */
  private static final Duration LEARNING = Duration.ofSeconds(8);

  private static final String FULL = "Insufficient " + Pods.GPU;

  private final Map<String, Instant> since = new HashMap<>();

  /** The most GPUs that each node ever offered. */
  private final Map<String, Integer> built = new HashMap<>();

  @Override
  public List<Finding> broken(World world) {
    Set<String> whole = new HashSet<>();
    for (Node node : world.nodes().values()) {
      String name = node.getMetadata().getName();
      int offered = Pods.gpus(node.getStatus().getAllocatable());
      if (usable(node) && offered == built.merge(name, offered, Math::max)) {
        whole.add(name);
      }
    }
    List<Finding> findings = new ArrayList<>();
    Set<String> waiting = new HashSet<>();
    for (Pod pod : world.jobPods()) {
      Optional<String> node = world.node(pod).filter(whole::contains);
      Optional<String> refusal = refusal(pod);
      if (node.isEmpty() || refusal.isEmpty()) {
        continue;
      }
      String uid = pod.getMetadata().getUid();
      waiting.add(uid);
      Instant begun = since.computeIfAbsent(uid, ignored -> world.now());
      if (!begun.plus(LEARNING).isAfter(world.now())) {
        findings.add(
            new Finding(
                "kube-scheduler finds room for each pod",
                Pods.name(pod),
                "%d GPUs of %s since %s: %s"
                    .formatted(Pods.gpus(pod), node.get(), begun, refusal.get())));
      }
    }
    since.keySet().retainAll(waiting);
    return findings;
  }

  private static boolean usable(Node node) {
    boolean cordoned =
        node.getSpec() != null && Boolean.TRUE.equals(node.getSpec().getUnschedulable());
    boolean ready = false;
    for (NodeCondition condition : node.getStatus().getConditions()) {
      ready |= "Ready".equals(condition.getType()) && "True".equals(condition.getStatus());
    }
    return ready && !cordoned;
  }

  /** What kube-scheduler says of a pod that it finds no GPUs for. */
  private static Optional<String> refusal(Pod pod) {
    if (pod.getSpec().getNodeName() != null || pod.getMetadata().getDeletionTimestamp() != null) {
      return Optional.empty();
    }
    return pod.getStatus().getConditions().stream()
        .filter(condition -> "PodScheduled".equals(condition.getType()))
        .filter(condition -> "Unschedulable".equals(condition.getReason()))
        .map(PodCondition::getMessage)
        .filter(message -> message != null && message.contains(FULL))
        .findFirst();
  }
}
