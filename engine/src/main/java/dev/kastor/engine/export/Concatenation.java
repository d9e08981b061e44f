package dev.kastor.engine.export;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Primitive.Binary;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Tensors side by side along an axis. The graph has no op for it and adds padded tensors up, which
 * for the steps of a recurrent layer is work by the square of their number.
 *
 * @param axis along which they lie
 * @param parts in their order
 */
record Concatenation(int axis, List<Node> parts) {
  Concatenation {
    parts = List.copyOf(parts);
  }

  /** The tensors of a sum in which each is padded to its place, without gap or overlap. */
  static Optional<Concatenation> of(Node sum) {
    List<Node> padded = new ArrayList<>();
    Node rest = sum;
    while (isSum(rest) && rest.input(1).op() instanceof Primitive.Pad) {
      padded.add(rest.input(1));
      rest = rest.input(0);
    }
    padded.add(rest);
    if (padded.size() < 2 || !(padded.getFirst().op() instanceof Primitive.Pad last)) {
      return Optional.empty();
    }
    // The last one ends at the end; else this is a part of a longer sum, or none.
    int end = last.after() == 0 ? sum.shape().extent(last.axis()) : -1;
    List<Node> parts = new ArrayList<>();
    for (Node each : padded) {
      if (!(each.op() instanceof Primitive.Pad pad) || pad.axis() != last.axis()) {
        return Optional.empty();
      }
      Node part = each.input(0);
      if (pad.before() + part.shape().extent(pad.axis()) != end) {
        return Optional.empty();
      }
      end = pad.before();
      parts.add(part);
    }
    Collections.reverse(parts);
    return end == 0 ? Optional.of(new Concatenation(last.axis(), parts)) : Optional.empty();
  }

  private static boolean isSum(Node node) {
    return node.op() instanceof Binary(Binary.Kind kind) && kind == Binary.Kind.ADD;
  }
}
