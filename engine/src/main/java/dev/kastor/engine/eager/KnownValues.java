package dev.kastor.engine.eager;

import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Node;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/** The values of nodes, released some time after nobody can reach the node any more. */
final class KnownValues {
  /** References are put into the queue some time after a collection. */
  private static final long PATIENCE_MILLIS = 500;

  private static final long MORE_MILLIS = 20;

  private static final class Held extends WeakReference<Node> {
    private final List<Value> values;

    Held(Node node, List<Value> values, ReferenceQueue<Node> gone) {
      super(node, gone);
      this.values = values;
    }
  }

  private final Map<Node, List<Value>> byNode = new WeakHashMap<>();
  private final Set<Held> held = new HashSet<>();
  private final ReferenceQueue<Node> gone = new ReferenceQueue<>();

  /** Takes over held values, one for each result of the node. */
  void put(Node node, List<Value> values) {
    byNode.put(node, values);
    held.add(new Held(node, values, gone));
  }

  @Nullable List<Value> get(Node node) {
    return byNode.get(node);
  }

  boolean contains(Node node) {
    return byNode.containsKey(node);
  }

  /** Releases values of nodes that nobody reaches, as far as that is known by now. */
  void releaseUnreachable() {
    for (var node = gone.poll(); node != null; node = gone.poll()) {
      release(node);
    }
  }

  /** Has the garbage collector look for such nodes; whether values were released. */
  boolean findUnreachable() throws InterruptedException {
    System.gc();
    boolean any = false;
    for (var node = gone.remove(PATIENCE_MILLIS); node != null; node = gone.remove(MORE_MILLIS)) {
      release(node);
      any = true;
    }
    return any;
  }

  private void release(Reference<? extends Node> node) {
    if (node instanceof Held lost && held.remove(lost)) {
      lost.values.forEach(Value::release);
    }
  }
}
