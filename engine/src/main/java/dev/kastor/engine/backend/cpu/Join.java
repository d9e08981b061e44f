package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A sum of padded tensors that lie side by side along one axis, which is what the gradient of
 * slices looks like: each part is copied to where it belongs, and nothing is added.
 *
 * @param axis along which they lie
 * @param pads the padded parts, in any order
 */
record Join(int axis, List<Node> pads) {
  /** The joins of a graph, by their last sum; the sums and pads before it have no values. */
  static Map<Node, Join> of(List<Node> order, Map<Node, List<Node>> consumers, Set<Node> kept) {
    Map<Node, Join> begun = new HashMap<>();
    Map<Node, Join> whole = new HashMap<>();
    for (Node node : order) {
      if (kept.contains(node) || consumers.getOrDefault(node, List.of()).size() > 1) {
        // Values that several read have a buffer, and may be the end of a join at most.
        addWhole(node, sum(node, begun), whole);
        continue;
      }
      Join join =
          node.op() instanceof Primitive.Pad pad
              ? new Join(pad.axis(), List.of(node))
              : sum(node, begun);
      if (join != null) {
        begun.put(node, join);
      }
      addWhole(node, join, whole);
    }
    return whole;
  }

  private static void addWhole(Node node, @Nullable Join join, Map<Node, Join> whole) {
    if (join != null && join.pads.size() > 1 && join.tiles()) {
      whole.put(node, join);
    }
  }

  private static @Nullable Join sum(Node node, Map<Node, Join> begun) {
    if (!(node.op() instanceof Primitive.Binary op) || op.kind() != Primitive.Binary.Kind.ADD) {
      return null;
    }
    Join left = begun.get(node.input(0));
    Join right = begun.get(node.input(1));
    if (left == null || right == null || left.axis != right.axis) {
      return null;
    }
    List<Node> pads = new ArrayList<>(left.pads);
    pads.addAll(right.pads);
    return new Join(left.axis, List.copyOf(pads));
  }

  /** Whether the parts fill the whole without overlap. */
  private boolean tiles() {
    int end = 0;
    for (Node pad : sorted()) {
      if (((Primitive.Pad) pad.op()).before() != end) {
        return false;
      }
      end += pad.input(0).shape().extent(axis);
    }
    return end == pads.getFirst().shape().extent(axis);
  }

  private List<Node> sorted() {
    return pads.stream()
        .sorted(Comparator.comparingInt(pad -> ((Primitive.Pad) pad.op()).before()))
        .toList();
  }

  /** The kernel that copies the parts into memory. */
  Kernel kernel(Compilation compilation, Node node, Place out) {
    List<Node> parts = sorted();
    int count = node.shape().elements(0, axis);
    Place[] from = new Place[parts.size()];
    long[] run = new long[from.length];
    for (int i = 0; i < from.length; i++) {
      Node part = parts.get(i).input(0);
      from[i] = compilation.place(part);
      run[i] = 4L * part.shape().elements(axis, part.shape().rank());
    }
    return compilation
        .team()
        .loop(
            count,
            node.shape().elements(),
            () ->
                (first, last) -> {
                  long wide = 4L * node.shape().elements() / count;
                  long lead = 0;
                  for (int i = 0; i < from.length; i++) {
                    MemorySegment source = from[i].segment();
                    for (int row = first; row < last; row++) {
                      MemorySegment.copy(
                          source, row * run[i], out.segment(), row * wide + lead, run[i]);
                    }
                    lead += run[i];
                  }
                });
  }
}
