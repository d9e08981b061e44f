package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.Node;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;

/** Slots not yet given away while a plan is made; owned by one planning call. */
final class FreeSlots {
  private final SequencedMap<String, Integer> free = new LinkedHashMap<>();
  private final Map<String, String> gpuTypes = new TreeMap<>();

  FreeSlots(List<Node> nodes) {
    for (Node node : nodes) {
      free.put(node.name(), node.slots());
      gpuTypes.put(node.name(), node.gpuType());
    }
  }

  /** Takes the slots of an allocation if all of them are free. */
  boolean take(Allocation allocation, String gpuType) {
    for (int i = 0; i < allocation.nodes(); i++) {
      String node = allocation.node(i);
      if (!suits(node, gpuType) || free.getOrDefault(node, 0) < allocation.count(i)) {
        return false;
      }
    }
    takeAnyway(allocation);
    return true;
  }

  /** Takes the slots even where they are not there: for jobs that must stay where they are. */
  void takeAnyway(Allocation allocation) {
    allocation
        .replicasByNode()
        .forEach((node, replicas) -> free.computeIfPresent(node, (name, left) -> left - replicas));
  }

  /**
   * Finds and takes {@code replicas} slots: on the node that they fill most tightly, else over the
   * nodes with most free slots, so that the job is spread over as few as possible.
   */
  Optional<Allocation> place(int replicas, String gpuType) {
    List<Map.Entry<String, Integer>> suitable =
        free.entrySet().stream()
            .filter(entry -> entry.getValue() > 0 && suits(entry.getKey(), gpuType))
            .toList();
    Optional<String> tightest =
        suitable.stream()
            .filter(entry -> entry.getValue() >= replicas)
            .min(Comparator.comparingInt(Map.Entry::getValue))
            .map(Map.Entry::getKey);
    Optional<Allocation> found =
        tightest.map(node -> Allocation.on(node, replicas)).or(() -> spread(suitable, replicas));
    found.ifPresent(this::takeAnyway);
    return found;
  }

  private static Optional<Allocation> spread(
      List<Map.Entry<String, Integer>> suitable, int replicas) {
    SequencedMap<String, Integer> placed = new TreeMap<>();
    int left = replicas;
    for (var entry :
        suitable.stream()
            .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
            .toList()) {
      int here = Math.min(left, entry.getValue());
      if (here > 0) {
        placed.put(entry.getKey(), here);
        left -= here;
      }
    }
    return left == 0 ? Optional.of(new Allocation(placed)) : Optional.empty();
  }

  private boolean suits(String node, String gpuType) {
    return gpuType.isEmpty() || gpuType.equals(gpuTypes.get(node));
  }
}
