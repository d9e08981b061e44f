package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Node;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What bodies kept for their gradients in one run; guarded by the run's lock. */
final class Histories {
  private record Key(Node inner, int iteration) {}

  private final List<Map<Key, Value>> histories = new ArrayList<>();

  int begin() {
    histories.add(new HashMap<>());
    return histories.size() - 1;
  }

  /** Takes over a held value. */
  void keep(int history, Node inner, int iteration, Value value) {
    Value before = histories.get(history).put(new Key(inner, iteration), value);
    if (before != null) {
      throw new IllegalStateException(inner + " was kept twice in iteration " + iteration + ".");
    }
  }

  /** Hands over a held value. */
  Value recall(int history, Node inner, int iteration) {
    Value value = histories.get(history).remove(new Key(inner, iteration));
    if (value == null) {
      throw new IllegalStateException(
          "Nothing is kept of %s in iteration %d.".formatted(inner, iteration));
    }
    return value;
  }

  void clear() {
    histories.forEach(history -> history.values().forEach(Value::release));
    histories.clear();
  }
}
