package dev.kastor.engine.op;

import dev.kastor.engine.graph.Node;
import java.util.List;

/** Tensors side by side. */
final class Joined {
  private Joined() {}

  /** As one tensor along an axis; the other extents agree. */
  static Node of(int axis, List<Node> parts) {
    int whole = parts.stream().mapToInt(part -> part.shape().extent(axis)).sum();
    Node sum = null;
    int before = 0;
    for (Node part : parts) {
      int extent = part.shape().extent(axis);
      Node wide = part.pad(axis, before, whole - before - extent);
      sum = sum == null ? wide : sum.add(wide);
      before += extent;
    }
    if (sum == null) {
      throw new IllegalArgumentException("There is nothing to join.");
    }
    return sum;
  }
}
