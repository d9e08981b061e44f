package dev.kastor.operator.cluster;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Counts slots: who has them and how many are left. */
public final class SlotCount {
  private final String resource;

  /** Counts slots of this extended resource. */
  public SlotCount(String resource) {
    this.resource = resource;
  }

  /** Whether pods may be put on the node: it is ready and not cordoned. */
  public static boolean usable(Node node) {
    if (node.getSpec() != null && Boolean.TRUE.equals(node.getSpec().getUnschedulable())) {
      return false;
    }
    return ready(node);
  }

  /** Whether its kubelet is known to be well. */
  public static boolean ready(Node node) {
    if (node.getStatus() == null) {
      return false;
    }
    for (NodeCondition condition : node.getStatus().getConditions()) {
      if ("Ready".equals(condition.getType())) {
        return "True".equals(condition.getStatus());
      }
    }
    return true;
  }

  /** Whether the pod still holds what it asked for: only a pod that ended or is gone does not. */
  public static boolean occupies(Pod pod) {
    String phase = pod.getStatus() == null ? null : pod.getStatus().getPhase();
    return !"Succeeded".equals(phase) && !"Failed".equals(phase);
  }

  /** The node a pod is on or meant for; empty if that is open. */
  public static String nodeOf(Pod pod) {
    String bound = pod.getSpec().getNodeName();
    if (bound != null && !bound.isEmpty()) {
      return bound;
    }
    Map<String, String> annotations = pod.getMetadata().getAnnotations();
    return annotations == null ? "" : annotations.getOrDefault(Labels.NODE, "");
  }

  /** All slots of the node. */
  public int allocatable(Node node) {
    Map<String, Quantity> allocatable = node.getStatus().getAllocatable();
    return allocatable == null ? 0 : amount(allocatable.get(resource));
  }

  /** Slots that these pods hold together. */
  public int held(Collection<Pod> pods) {
    return pods.stream().filter(SlotCount::occupies).mapToInt(this::requested).sum();
  }

  /** Slots that these pods hold on each node. */
  public Map<String, Integer> heldByNode(Collection<Pod> pods) {
    Map<String, Integer> held = new TreeMap<>();
    pods.stream()
        .filter(SlotCount::occupies)
        .forEach(pod -> held.merge(nodeOf(pod), requested(pod), Integer::sum));
    return held;
  }

  /** Slots of the node that are left beside these pods. */
  public int free(Node node, Collection<Pod> podsOnNode) {
    return Math.max(0, allocatable(node) - held(podsOnNode));
  }

  private int requested(Pod pod) {
    int slots = 0;
    for (Container container : pod.getSpec().getContainers()) {
      var resources = container.getResources();
      if (resources != null) {
        var limits = resources.getLimits();
        slots += limits == null ? 0 : amount(limits.get(resource));
      }
    }
    return slots;
  }

  private static int amount(@Nullable Quantity quantity) {
    return quantity == null ? 0 : quantity.getNumericalAmount().intValue();
  }
}
