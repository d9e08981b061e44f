package dev.kastor.engine.autodiff;

import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Effect;
import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Increment;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The gradient of a value as further graph: a reverse walk with one rule per op. What a rule adds
 * for a node that has a {@linkplain Node#at place} is computed in the same place.
 */
public final class Gradients {
  private final Set<Node> active = new HashSet<>();
  private final Map<Node, Node> gradients = new HashMap<>();
  private final Map<Node, SortedMap<Integer, Node>> parts = new HashMap<>();

  /** Nodes that are where they are to be, and what stands for those that were not. */
  private final Map<Node, Node> placed = new HashMap<>();

  private boolean places;
  private String place = "";

  private Gradients() {}

  /** The gradients of a scalar with respect to some of the nodes it was computed from. */
  public static List<Node> of(Node loss, List<Node> variables) {
    if (loss.shape().elements() != 1) {
      throw new IllegalArgumentException(
          "Only a scalar has a gradient, got %s. Reduce it first.".formatted(loss));
    }
    return of(loss, Node.constant(1).broadcast(loss.shape()), variables);
  }

  /**
   * The product of a gradient with the Jacobian of a value.
   *
   * @param seed gradient of the loss with respect to {@code value}
   * @return for each variable the gradient of the loss, zero where the value does not depend on it
   */
  public static List<Node> of(Node value, Node seed, List<Node> variables) {
    return of(List.of(value), List.of(seed), variables);
  }

  /**
   * The sum of the products of gradients with the Jacobians of values.
   *
   * @param seeds gradient of the loss with respect to each value
   * @return for each variable the gradient of the loss, zero where no value depends on it
   */
  public static List<Node> of(List<Node> values, List<Node> seeds, List<Node> variables) {
    return new Gradients().walk(values, seeds, variables);
  }

  private List<Node> walk(List<Node> values, List<Node> seeds, List<Node> variables) {
    List<Node> order = new Graph(values).topological();
    places = order.stream().anyMatch(node -> !node.place().isEmpty());
    if (places) {
      order.forEach(node -> placed.put(node, node));
    }
    Set<Node> wanted = new HashSet<>();
    wanted.addAll(variables);
    for (Node node : order) {
      if (wanted.contains(node) || node.inputs().stream().anyMatch(active::contains)) {
        active.add(node);
      }
    }
    for (int i = 0; i < values.size(); i++) {
      add(values.get(i), seeds.get(i));
    }
    for (Node node : order.reversed()) {
      // What lies behind a variable is not asked for unless another variable does.
      if (node.inputs().stream().anyMatch(active::contains)) {
        place = node.place();
        pull(node);
      }
    }
    List<Node> results = new ArrayList<>();
    for (Node variable : variables) {
      Node gradient = gradients.get(variable);
      results.add(gradient != null ? gradient : Node.constant(0).broadcast(variable.shape()));
    }
    return results;
  }

  private void add(Node node, Node gradient) {
    if (active.contains(node) && node.types().size() == 1 && node.isFloat()) {
      gradients.merge(node, inPlace(gradient), (one, other) -> inPlace(Increment.sum(one, other)));
    }
  }

  /** Nodes that a gradient rule made, placed on the device of the node that the rule is for. */
  private Node inPlace(Node made) {
    if (!places) {
      return made;
    }
    for (Node node : Graph.of(made).topological(placed::containsKey)) {
      Node same =
          node.with(
              node.inputs().stream().map(this::found).toList(),
              node.after().stream().map(this::found).toList());
      Node there = place.isEmpty() || !node.place().isEmpty() ? same : same.at(place);
      placed.put(node, there);
      placed.put(there, there);
    }
    return found(made);
  }

  private Node found(Node node) {
    return Objects.requireNonNull(placed.get(node), () -> "Unplaced " + node);
  }

  private void pull(Node node) {
    Node gradient = gradients.get(node);
    SortedMap<Integer, Node> partial = parts.get(node);
    if (partial != null) {
      Map<Integer, Node> pulled = ControlGradients.of(node, partial);
      pulled.forEach((input, of) -> add(node.input(input), of));
    } else if (gradient != null) {
      pull(node, gradient);
    }
  }

  private void pull(Node node, Node g) {
    switch (node.op()) {
      case Primitive primitive -> pull(primitive, node, g);
      case Fused fused -> pull(fused, node, g);
      case Control.Part part ->
          parts.computeIfAbsent(node.input(0), _ -> new TreeMap<>()).put(part.index(), g);
      case Control.Recorded _ ->
          throw new UnsupportedOperationException(
              "The gradient of a loop or branch has no gradient. Unroll the loop to differentiate"
                  + " it twice.");
      case Control.Cond _, Control.While _ ->
          throw new IllegalStateException(node + " is seen through its parts.");
      case Effect _, Control.Group _ -> {}
    }
  }

  private void pull(Fused fused, Node node, Node g) {
    List<Node> floats = node.inputs().stream().filter(Node::isFloat).toList();
    List<Node> pulled =
        fused.gradients(node, g).orElseGet(() -> of(fused.decompose(node.inputs()), g, floats));
    for (int i = 0; i < floats.size(); i++) {
      add(floats.get(i), pulled.get(i));
    }
  }

  private void pull(Primitive op, Node node, Node g) {
    switch (op) {
      case Primitive.Input _, Primitive.Parameter _, Primitive.Constant _, Primitive.Iota _ -> {}
      case Primitive.OneHot _ -> {}
      case Primitive.Unary unary -> add(node.input(0), unary(unary.kind(), node, g));
      case Primitive.Binary binary -> binary(binary.kind(), node, g);
      case Primitive.Select _ -> {
        Node zero = Node.constant(0);
        add(node.input(1), node.input(0).select(g, zero));
        add(node.input(2), node.input(0).select(zero, g));
      }
      case Primitive.Broadcast _ -> add(node.input(0), collapse(g, node.input(0).shape()));
      case Primitive.Reduce reduce -> add(node.input(0), reduce(reduce, node, g));
      case Primitive.Reshape _ -> add(node.input(0), g.reshape(node.input(0).shape()));
      case Primitive.Permute permute -> add(node.input(0), inverse(permute, g));
      case Primitive.Slice slice -> {
        int extent = node.input(0).shape().extent(slice.axis());
        add(node.input(0), g.pad(slice.axis(), slice.from(), extent - slice.to()));
      }
      case Primitive.Pad pad -> {
        int extent = node.input(0).shape().extent(pad.axis());
        add(node.input(0), g.slice(pad.axis(), pad.before(), pad.before() + extent));
      }
      case Primitive.MatMul matMul -> matMul(matMul, node, g);
      case Primitive.Gather _ -> {
        int rows = node.input(0).shape().extent(0);
        add(node.input(0), Node.of(new Primitive.ScatterAdd(rows), g, node.input(1)));
      }
      case Primitive.ScatterAdd _ -> add(node.input(0), g.gather(node.input(1)));
      case Primitive.Convolution c -> {
        add(node.input(0), image(c.stride(), c.padding(), g, node.input(1), node.input(0)));
        add(node.input(1), kernel(c.stride(), c.padding(), node.input(0), g, node.input(1)));
      }
      case Primitive.ConvolutionImage c -> {
        add(node.input(0), g.convolve(node.input(1), c.stride(), c.padding()));
        add(node.input(1), kernel(c.stride(), c.padding(), g, node.input(0), node.input(1)));
      }
      case Primitive.ConvolutionKernel c -> {
        add(node.input(0), image(c.stride(), c.padding(), node.input(1), g, node.input(0)));
        add(node.input(1), node.input(0).convolve(g, c.stride(), c.padding()));
      }
    }
  }

  private static Node unary(Primitive.Unary.Kind kind, Node node, Node g) {
    Node x = node.input(0);
    return switch (kind) {
      case NEGATE -> g.negate();
      case EXP -> g.multiply(node);
      case LOG -> g.divide(x);
      case SQRT -> g.multiply(0.5).divide(node);
      case RECIPROCAL_ROOT -> g.multiply(-0.5).multiply(node.divide(x));
      case TANH -> g.multiply(Node.constant(1).subtract(node.multiply(node)));
      case SIGMOID -> g.multiply(node.subtract(node.multiply(node)));
      // The result is positive where its operand is, which then need not be kept.
      case RELU -> node.greater(Node.constant(0)).multiply(g);
    };
  }

  private void binary(Primitive.Binary.Kind kind, Node node, Node g) {
    Node left = node.input(0);
    Node right = node.input(1);
    switch (kind) {
      case ADD -> {
        add(left, g);
        add(right, g);
      }
      case SUBTRACT -> {
        add(left, g);
        add(right, g.negate());
      }
      case MULTIPLY -> {
        add(left, g.multiply(right));
        add(right, g.multiply(left));
      }
      case DIVIDE -> {
        add(left, g.divide(right));
        add(right, g.multiply(node).divide(right).negate());
      }
      case MAXIMUM -> {
        Node first = left.greater(right);
        add(left, first.multiply(g));
        add(right, g.subtract(first.multiply(g)));
      }
      case GREATER -> {}
    }
  }

  /** Equal maxima share the gradient equally. */
  private static Node reduce(Primitive.Reduce reduce, Node node, Node g) {
    Node x = node.input(0);
    int[] kept = x.shape().extents();
    for (int axis = reduce.from(); axis < reduce.to(); axis++) {
      kept[axis] = 1;
    }
    return switch (reduce.kind()) {
      case SUM -> g.reshape(kept).broadcast(x.shape());
      case MAXIMUM -> {
        Node one = Node.constant(1);
        Node winners = one.subtract(node.reshape(kept).broadcast(x.shape()).greater(x));
        Node share = g.divide(winners.sum(reduce.from(), reduce.to()));
        yield winners.multiply(share.reshape(kept));
      }
    };
  }

  /** Sums a gradient over the axes along which its value was repeated. */
  private static Node collapse(Node g, Shape to) {
    Node sum = g;
    int end = to.rank();
    while (end > 0) {
      if (to.extent(end - 1) == g.shape().extent(end - 1)) {
        end--;
        continue;
      }
      int start = end - 1;
      while (start > 0 && to.extent(start - 1) == 1) {
        start--;
      }
      sum = sum.sum(start, end);
      end = start;
    }
    return sum.reshape(to);
  }

  private static Node inverse(Primitive.Permute permute, Node g) {
    Integer[] axes = new Integer[permute.axes().size()];
    for (int i = 0; i < axes.length; i++) {
      axes[permute.axes().get(i)] = i;
    }
    return g.permute(axes);
  }

  private void matMul(Primitive.MatMul op, Node node, Node g) {
    Node a = node.input(0);
    Node b = node.input(1);
    boolean left = op.transposeLeft();
    boolean right = op.transposeRight();
    add(a, left ? b.matMul(g, right, true) : g.matMul(b, false, !right));
    add(b, right ? g.matMul(a, true, left) : a.matMul(g, !left, false));
  }

  private static Node image(int stride, int padding, Node result, Node kernel, Node like) {
    Shape shape = like.shape();
    return Node.of(
        new Primitive.ConvolutionImage(stride, padding, shape.extent(1), shape.extent(2)),
        result,
        kernel);
  }

  private static Node kernel(int stride, int padding, Node image, Node result, Node like) {
    Shape shape = like.shape();
    return Node.of(
        new Primitive.ConvolutionKernel(stride, padding, shape.extent(0), shape.extent(1)),
        image,
        result);
  }
}
