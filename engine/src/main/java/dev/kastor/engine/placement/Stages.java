package dev.kastor.engine.placement;

import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Pure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Stages of a network: its layers in their order, cut where the fullest device has the least bytes.
 *
 * <p>A layer begins with the first use of a parameter whose label has another beginning, up to its
 * last dot, than the one before; so what a backend computes together stays together. It takes its
 * parameters, as many bytes again for their gradients, its inputs, and all values that it computes
 * and keeps for its gradients. Where nodes are placed, their gradients are placed too, so that only
 * what goes from stage to stage is sent. The same network is always cut the same.
 */
public final class Stages {
  private final Set<Node> constants = new HashSet<>();
  private final Map<Node, Integer> layers = new HashMap<>();
  private final List<Long> bytes = new ArrayList<>();
  private final List<Node> results;
  private final List<Node> order;

  private Stages(List<Node> results) {
    this.results = results;
    this.order = new Graph(results).topological();
    Set<Node> seen = new HashSet<>();
    String label = "";
    bytes.add(0L);
    for (Node node : order) {
      if (isConstant(node)) {
        constants.add(node);
      } else if (!node.isLeaf()) {
        long own = isView(node) ? 0 : RoughCosts.bytes(node);
        for (Node input : node.inputs()) {
          if (input.isLeaf() && seen.add(input)) {
            own += RoughCosts.bytes(input);
            if (input.op() instanceof Primitive.Parameter parameter) {
              own += RoughCosts.bytes(input);
              String layer = beginning(parameter.label());
              if (!layer.equals(label)) {
                label = layer;
                bytes.add(0L);
              }
            }
          }
        }
        layers.put(node, bytes.size() - 1);
        bytes.set(bytes.size() - 1, bytes.getLast() + own);
      }
    }
  }

  private static String beginning(String label) {
    int dot = label.lastIndexOf('.');
    return dot < 0 ? label : label.substring(0, dot);
  }

  private boolean isConstant(Node node) {
    return node.op() instanceof Pure && !node.isLeaf() && constants.containsAll(node.needs());
  }

  /** Whether a backend computes it where its operand is, or with who uses it. */
  private static boolean isView(Node node) {
    return node.op() instanceof Primitive.Broadcast
        || node.op() instanceof Primitive.Reshape
        || node.op() instanceof Control;
  }

  /**
   * Places the nodes of a network that are not placed yet; loops and branches are left to the
   * placer.
   *
   * @param results of the network, without its gradients
   * @param devices in the order of the stages, each with as much memory as the others
   */
  public static List<Node> place(List<Node> results, List<Device> devices) {
    Stages stages = new Stages(results);
    return stages.placed(stages.cut(devices.size()), devices);
  }

  /** For each layer its stage. */
  private int[] cut(int most) {
    long low = bytes.stream().mapToLong(Long::longValue).max().orElse(0);
    long high = bytes.stream().mapToLong(Long::longValue).sum();
    while (low < high) {
      long middle = low + (high - low) / 2;
      int[] stages = filled(middle);
      if (stages[stages.length - 1] < most) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return filled(high);
  }

  /** Fills one stage after the other with no more than so many bytes. */
  private int[] filled(long limit) {
    int[] stages = new int[bytes.size()];
    long full = 0;
    for (int layer = 0; layer < stages.length; layer++) {
      int before = layer == 0 ? 0 : stages[layer - 1];
      boolean fits = full + bytes.get(layer) <= limit;
      full = fits ? full + bytes.get(layer) : bytes.get(layer);
      stages[layer] = fits ? before : before + 1;
    }
    return stages;
  }

  private List<Node> placed(int[] stages, List<Device> devices) {
    Map<Node, Node> now = new HashMap<>();
    for (Node node : order) {
      Node same =
          node.with(
              node.inputs().stream().map(input -> visited(now, input)).toList(),
              node.after().stream().map(earlier -> visited(now, earlier)).toList());
      boolean free =
          layers.containsKey(node) && node.place().isEmpty() && !(node.op() instanceof Control);
      now.put(node, free ? same.at(devices.get(stages[layer(node)]).toString()) : same);
    }
    return results.stream().map(result -> visited(now, result)).toList();
  }

  private static Node visited(Map<Node, Node> now, Node node) {
    return Objects.requireNonNull(now.get(node), () -> "Unvisited " + node);
  }

  private int layer(Node node) {
    return Objects.requireNonNull(layers.get(node));
  }
}
