package dev.kastor.operator.pods;

import dev.kastor.scheduler.model.Allocation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * How a job's pods and its allocation fit together.
 *
 * @param wanted live pods that the allocation covers, by number
 * @param surplus live pods that it does not cover, by number
 * @param missing pods still to be made, by node
 */
public record PodPlan(
    List<PodView> wanted, List<PodView> surplus, SequencedMap<String, Integer> missing) {
  public PodPlan {
    wanted = List.copyOf(wanted);
    surplus = List.copyOf(surplus);
  }

  /**
   * Matches pods to the allocation node by node.
   *
   * @param members pods that train now: on a node with too many pods they stay first
   * @param dismissed pods that were told to go: never wanted again
   */
  public static PodPlan of(
      Allocation allocation, List<PodView> pods, Set<String> members, Set<String> dismissed) {
    Map<String, Integer> open = new TreeMap<>(allocation.replicasByNode());
    List<PodView> wanted = new ArrayList<>();
    List<PodView> surplus = new ArrayList<>();
    List<PodView> live =
        pods.stream()
            .filter(PodView::live)
            .sorted(
                Comparator.comparing((PodView pod) -> !members.contains(pod.name()))
                    .thenComparingLong(PodView::number))
            .toList();
    for (PodView pod : live) {
      int left = open.getOrDefault(pod.node(), 0);
      if (left > 0 && !dismissed.contains(pod.name())) {
        wanted.add(pod);
        open.put(pod.node(), left - 1);
      } else {
        surplus.add(pod);
      }
    }
    wanted.sort(Comparator.comparingLong(PodView::number));
    surplus.sort(Comparator.comparingLong(PodView::number));
    SequencedMap<String, Integer> missing = new TreeMap<>(open);
    missing.values().removeIf(count -> count == 0);
    return new PodPlan(wanted, surplus, missing);
  }

  /** So many of the missing pods, by node; none if the number is not positive. */
  public static SequencedMap<String, Integer> first(int most, Map<String, Integer> missing) {
    SequencedMap<String, Integer> part = new TreeMap<>();
    int left = most;
    for (var entry : missing.entrySet()) {
      if (left > 0) {
        part.put(entry.getKey(), Math.min(left, entry.getValue()));
        left -= entry.getValue();
      }
    }
    return part;
  }
}
