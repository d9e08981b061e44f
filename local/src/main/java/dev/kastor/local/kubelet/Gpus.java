package dev.kastor.local.kubelet;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * GPUs of a node, each of which one pod holds at a time.
 *
 * <p>Owned by the kubelet's thread.
 */
final class Gpus {
  private final List<String> free;
  private final Map<String, List<String>> held = new HashMap<>();

  Gpus(List<String> all) {
    free = new ArrayList<>(all);
  }

  /**
   * Gives a pod GPUs of its own.
   *
   * @param pod its uid
   * @return their names
   * @throws NotStartable if so many are not free
   */
  List<String> take(String pod, int count) throws NotStartable {
    if (count > free.size()) {
      throw NotStartable.now(
          "it wants %d GPUs of its own and %d are free".formatted(count, free.size()));
    }
    List<String> taken = new ArrayList<>(free.subList(0, count));
    free.subList(0, count).clear();
    held.put(pod, taken);
    return taken;
  }

  /** Takes back what a pod holds. */
  void giveBack(String pod) {
    List<String> back = held.remove(pod);
    if (back != null) {
      free.addAll(back);
    }
  }
}
