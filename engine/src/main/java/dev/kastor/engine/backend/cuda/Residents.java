package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.backend.DeviceVector;
import dev.kastor.engine.backend.Residence;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Part of a graph that stays on the GPU.
 *
 * @param graph in which each output that stays has a buffer of its own
 * @param leaves that stay, with where they lie
 * @param outputs nodes with the buffers of outputs that stay, with where they lie
 * @param numbers of the outputs that stay
 */
record Residents(
    Graph graph,
    Map<Node, CudaVector.Place> leaves,
    Map<Node, CudaVector.Place> outputs,
    Set<Integer> numbers) {
  Residents {
    leaves = Map.copyOf(leaves);
    outputs = Map.copyOf(outputs);
    numbers = Set.copyOf(numbers);
  }

  /** Nothing stays. */
  static Residents none(Graph graph) {
    return new Residents(graph, Map.of(), Map.of(), Set.of());
  }

  /**
   * Finds the buffers.
   *
   * @param primitives a graph of primitives alone
   * @throws IllegalArgumentException if the places have other shapes, or are none of a GPU's
   */
  static Residents of(Graph primitives, Residence residence) {
    Map<Node, CudaVector.Place> leaves = new HashMap<>();
    residence.leaves().forEach((leaf, place) -> leaves.put(leaf, place(place, leaf)));
    Map<Node, CudaVector.Place> outputs = new HashMap<>();
    List<Node> results = new ArrayList<>(primitives.outputs());
    residence
        .outputs()
        .forEach((number, place) -> {
          Node result = results.get(number);
          Node base = Compilation.base(result);
          if (base.isLeaf() || outputs.containsKey(base)) {
            result = copy(result);
            results.set(number, result);
            base = Compilation.base(result);
          }
          outputs.put(base, place(place, result));
        });
    return new Residents(new Graph(results), leaves, outputs, residence.outputs().keySet());
  }

  private static CudaVector.Place place(DeviceVector.Place place, Node node) {
    if (!(place instanceof CudaVector.Place own) || !own.shape().equals(node.shape())) {
      throw new IllegalArgumentException("%s cannot lie in %s.".formatted(node, place));
    }
    return own;
  }

  /** The same values in a buffer of their own. */
  private static Node copy(Node node) {
    return node.shape().rank() == 0
        ? node.reshape(1).slice(0, 0, 1).reshape(node.shape())
        : node.slice(0, 0, node.shape().extent(0));
  }

  /** All nodes whose buffers are not in the slab. */
  Set<Node> nodes() {
    Set<Node> nodes = new HashSet<>(leaves.keySet());
    nodes.addAll(outputs.keySet());
    return nodes;
  }

  /**
   * Refuses outputs that would overwrite what is still read.
   *
   * @throws IllegalArgumentException if there is one
   */
  void check(List<Task> tasks) {
    outputs.forEach((output, place) -> {
      leaves.forEach((leaf, from) -> {
        if (from.address() < place.end() && place.address() < from.end()) {
          boolean same = from.equals(place) && isElementwise(output, leaf);
          if (!same || isReadAfter(leaf, output, tasks)) {
            throw new IllegalArgumentException(
                "%s cannot take the place of %s.".formatted(output, leaf));
          }
        }
      });
      outputs.forEach((other, to) -> {
        if (other != output && to.address() < place.end() && place.address() < to.end()) {
          throw new IllegalArgumentException(
              "%s and %s cannot have the same place.".formatted(output, other));
        }
      });
    });
  }

  /** Whether the kernel of an output reads a leaf only where it writes. */
  private boolean isElementwise(Node output, Node leaf) {
    return switch (output.op()) {
      case Primitive.Unary _, Primitive.Binary _, Primitive.Select _ ->
          output.inputs().stream().allMatch(input -> isReadInPlace(input, leaf));
      default -> false;
    };
  }

  private boolean isReadInPlace(Node node, Node leaf) {
    return switch (node.op()) {
      case Primitive.Unary _, Primitive.Binary _, Primitive.Select _, Primitive.Reshape _ ->
          node.inputs().stream().allMatch(input -> isReadInPlace(input, leaf));
      default -> node == leaf || new Graph(List.of(node)).leaves().stream().noneMatch(leaf::equals);
    };
  }

  private static boolean isReadAfter(Node leaf, Node output, List<Task> tasks) {
    boolean after = false;
    for (Task task : tasks) {
      if (after && task.parameters().stream().anyMatch(leaf::equals)) {
        return true;
      }
      after |= task.result() == output;
    }
    return false;
  }
}
