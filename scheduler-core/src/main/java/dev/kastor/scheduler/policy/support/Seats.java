package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Node;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** GPUs of one type, numbered node by node, while a plan is made; owned by one plan. */
public final class Seats {
  private final List<String> nodeOfSeat = new ArrayList<>();
  private final List<Boolean> taken = new ArrayList<>();
  private int free;
  private int next;

  /** All GPUs of these nodes. */
  public Seats(List<Node> nodes) {
    for (Node node : nodes) {
      for (int slot = 0; slot < node.slots(); slot++) {
        nodeOfSeat.add(node.name());
        taken.add(false);
        free++;
      }
    }
  }

  /** Number of free seats. */
  public int free() {
    return free;
  }

  /** Replicas of so many seats of one node each that the free ones can hold. */
  public int replicas(int slotsPerReplica) {
    if (slotsPerReplica == 1) {
      return free;
    }
    Map<String, Integer> byNode = new HashMap<>();
    for (int seat = 0; seat < taken.size(); seat++) {
      if (!taken.get(seat)) {
        byNode.merge(node(seat), 1, Integer::sum);
      }
    }
    return byNode.values().stream().mapToInt(seats -> seats / slotsPerReplica).sum();
  }

  /** Takes seats that are all free; false, with nothing taken, if one is not. */
  public boolean take(List<Integer> seats) {
    for (int seat : seats) {
      if (taken.get(seat)) {
        return false;
      }
    }
    for (int seat : seats) {
      taken.set(seat, true);
    }
    free -= seats.size();
    return true;
  }

  /** The seats that an allocation would have, counted from the last of each node; maybe fewer. */
  public List<Integer> lastOf(Allocation allocation) {
    List<Integer> found = new ArrayList<>();
    for (int i = 0; i < allocation.nodes(); i++) {
      int wanted = allocation.slots(i);
      for (int seat = nodeOfSeat.size() - 1; seat >= 0 && wanted > 0; seat--) {
        if (nodeOfSeat.get(seat).equals(allocation.node(i)) && !taken.get(seat)) {
          found.add(seat);
          wanted--;
        }
      }
    }
    found.sort(null);
    return found;
  }

  /**
   * The first free seats in order, those of each replica on one node; none, with nothing taken, if
   * there are not enough.
   */
  public List<Integer> takeNext(int replicas, int slotsPerReplica) {
    while (next < taken.size() && taken.get(next)) {
      next++;
    }
    List<Integer> seats = new ArrayList<>();
    List<Integer> together = new ArrayList<>();
    for (int seat = next;
        seat < taken.size() && seats.size() < replicas * slotsPerReplica;
        seat++) {
      if (taken.get(seat)) {
        continue;
      }
      if (!together.isEmpty() && !node(together.getFirst()).equals(node(seat))) {
        together.clear();
      }
      together.add(seat);
      if (together.size() == slotsPerReplica) {
        seats.addAll(together);
        together.clear();
      }
    }
    return seats.size() == replicas * slotsPerReplica && take(seats) ? seats : List.of();
  }

  private String node(int seat) {
    return nodeOfSeat.get(seat);
  }

  /** The allocation of some seats, those of whole replicas on each node. */
  public Allocation allocation(List<Integer> seats, int slotsPerReplica) {
    SequencedMap<String, Integer> byNode = new LinkedHashMap<>();
    for (int seat : seats) {
      byNode.merge(node(seat), 1, Integer::sum);
    }
    return Allocation.ofSlots(byNode, slotsPerReplica);
  }
}
