package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Node;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
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
      int wanted = allocation.count(i);
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

  /** The first free seats in order; there must be as many. */
  public List<Integer> takeNext(int count) {
    List<Integer> seats = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      while (taken.get(next)) {
        next++;
      }
      taken.set(next, true);
      seats.add(next);
    }
    free -= count;
    return seats;
  }

  /** The allocation of some seats. */
  public Allocation allocation(List<Integer> seats) {
    SequencedMap<String, Integer> byNode = new LinkedHashMap<>();
    for (int seat : seats) {
      byNode.merge(nodeOfSeat.get(seat), 1, Integer::sum);
    }
    return new Allocation(byNode);
  }
}
