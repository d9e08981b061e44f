package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts slots: who has them and how many are left.
 *
 * <p>Sums saturate, as pods may ask for any number, and no pod counts for more than its node has: a
 * kubelet does not take one that asks for more.
 */
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
    String phase = PodPlace.phase(pod);
    return !"Succeeded".equals(phase) && !"Failed".equals(phase);
  }

  /** All slots of the node. */
  public int allocatable(Node node) {
    Map<String, Quantity> allocatable = node.getStatus().getAllocatable();
    return allocatable == null
        ? 0
        : (int) Math.min(Integer.MAX_VALUE, PodRequests.amount(allocatable.get(resource)));
  }

  /** Slots that these pods ask for together, whatever their node has. */
  public int asked(Collection<Pod> pods) {
    return saturated(pods.stream().filter(SlotCount::occupies).mapToLong(this::requested).sum());
  }

  /** Slots that these pods hold together on the node; may be more than it has. */
  public int held(Node node, Collection<Pod> podsOnNode) {
    int most = allocatable(node);
    return saturated(
        podsOnNode.stream()
            .filter(SlotCount::occupies)
            .mapToLong(pod -> Math.min(most, requested(pod)))
            .sum());
  }

  /**
   * Slots that the pods of one job hold on each node: what those ask for that are there, and what
   * those will take that are on their way.
   *
   * @param given slots that the job was given, by node
   * @param coming pods on their way that the operator made
   */
  public Map<String, Integer> heldByNode(
      Collection<Pod> pods, Map<String, Integer> given, ComingPods coming) {
    Map<String, Long> held = new TreeMap<>();
    Map<String, List<Pod>> onTheirWay = new TreeMap<>();
    for (Pod pod : pods) {
      if (occupies(pod)) {
        PodPlace.on(pod)
            .ifPresentOrElse(
                node -> held.merge(node, (long) requested(pod), Long::sum),
                () ->
                    onTheirWay
                        .computeIfAbsent(PodPlace.meant(pod), node -> new ArrayList<>())
                        .add(pod));
      }
    }
    onTheirWay.forEach((node, there) ->
        held.merge(node, (long) coming(there, given.getOrDefault(node, 0), coming), Long::sum));
    Map<String, Integer> saturated = new TreeMap<>();
    held.forEach((node, slots) -> {
      if (slots > 0) {
        saturated.put(node, saturated(slots));
      }
    });
    return saturated;
  }

  /**
   * Slots of a node that pods of one job on their way there will take: all that those ask for that
   * the operator made, and what others ask for as far as the job was given slots for it.
   *
   * @param given slots of the node that the job was given
   * @param coming pods on their way that the operator made
   */
  public int coming(Collection<Pod> pods, int given, ComingPods coming) {
    long sure = pods.stream().filter(coming::contains).mapToLong(this::coming).sum();
    long all = pods.stream().mapToLong(this::coming).sum();
    return saturated(Math.max(sure, Math.min(all, given)));
  }

  /** Slots that a pod of ours takes once it is on its node: a replica at least one. */
  public int coming(Pod pod) {
    boolean server = PodName.serverIndex(pod.getMetadata().getName()).isPresent();
    return Math.max(server ? 0 : 1, requested(pod));
  }

  /** Slots of the node that are left beside these pods. */
  public int free(Node node, Collection<Pod> podsOnNode) {
    return Math.max(0, allocatable(node) - held(node, podsOnNode));
  }

  /** Resources of the pod as a whole cannot be extended ones. */
  private int requested(Pod pod) {
    return (int) Math.min(Integer.MAX_VALUE, PodRequests.of(pod.getSpec(), resource));
  }

  private static int saturated(long slots) {
    return Math.clamp(slots, 0, Integer.MAX_VALUE);
  }
}
