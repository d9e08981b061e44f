package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes a value apart along its first axis and puts it together again.
 *
 * <p>By halves: the gradient of a slice, and a join, are sums of padded values as large as the
 * whole, so one by one the work would grow with the square of the number of parts.
 */
final class Sequence {
  private Sequence() {}

  /** From {@code [n, ..]} to n nodes {@code [1, ..]}. */
  static List<Node> split(Node whole) {
    int extent = whole.shape().extent(0);
    if (extent == 1) {
      return List.of(whole);
    }
    List<Node> parts = new ArrayList<>(split(whole.slice(0, 0, extent / 2)));
    parts.addAll(split(whole.slice(0, extent / 2, extent)));
    return parts;
  }

  /** From nodes {@code [k, ..]} to {@code [n, ..]}, where n is the sum of their k. */
  static Node join(List<Node> parts) {
    if (parts.size() == 1) {
      return parts.getFirst();
    }
    Node first = join(parts.subList(0, parts.size() / 2));
    Node second = join(parts.subList(parts.size() / 2, parts.size()));
    int before = first.shape().extent(0);
    int after = second.shape().extent(0);
    return first.pad(0, 0, after).add(second.pad(0, before, 0));
  }
}
