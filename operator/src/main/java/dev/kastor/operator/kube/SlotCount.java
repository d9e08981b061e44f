package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts slots: who has them and how many are left.
 *
 * <p>Sums saturate, as pods may ask for any number, and no pod counts for more than its node has: a
 * kubelet does not take one that asks for more.
 */
public final class SlotCount {
  private static final BigDecimal MOST = BigDecimal.valueOf(Integer.MAX_VALUE);

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
    return allocatable == null ? 0 : amount(allocatable.get(resource));
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

  /**
   * What Kubernetes counts for a pod: its containers and sidecars together, or an init container
   * with the sidecars before it if that is more, and the overhead of its runtime class. Resources
   * of the pod as a whole cannot be extended ones.
   */
  private int requested(Pod pod) {
    long sidecars = 0;
    long starting = 0;
    for (Container container : pod.getSpec().getInitContainers()) {
      long own = requested(container);
      starting = Math.max(starting, sidecars + own);
      sidecars += "Always".equals(container.getRestartPolicy()) ? own : 0;
    }
    long running = sidecars;
    for (Container container : pod.getSpec().getContainers()) {
      running += requested(container);
    }
    Map<String, Quantity> overhead = pod.getSpec().getOverhead();
    long beside = overhead == null ? 0 : amount(overhead.get(resource));
    return saturated(Math.max(starting, running) + beside);
  }

  private int requested(Container container) {
    var resources = container.getResources();
    if (resources == null) {
      return 0;
    }
    Quantity request =
        resources.getRequests() == null ? null : resources.getRequests().get(resource);
    Quantity limit = resources.getLimits() == null ? null : resources.getLimits().get(resource);
    // Of an extended resource both are the same; a server that sets no defaults has the limit only.
    return amount(request == null ? limit : request);
  }

  private static int saturated(long slots) {
    return Math.clamp(slots, 0, Integer.MAX_VALUE);
  }

  private static int amount(@Nullable Quantity quantity) {
    return quantity == null
        ? 0
        : quantity.getNumericalAmount().max(BigDecimal.ZERO).min(MOST).intValue();
  }
}
