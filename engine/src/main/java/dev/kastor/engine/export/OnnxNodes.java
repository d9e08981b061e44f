package dev.kastor.engine.export;

import dev.kastor.engine.export.OnnxGraph.Attribute;
import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Op;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Primitive.Binary;
import dev.kastor.engine.graph.Primitive.Reduce;
import dev.kastor.engine.graph.Primitive.Unary;
import dev.kastor.engine.op.MaxPool;
import dev.kastor.engine.op.Softmax;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Translation of a graph to nodes of ONNX, operator set 13, for any number of examples: the graph
 * is given for two numbers, and what differs between both depends on it.
 *
 * <p>Images are {@code [n, h, w, c]} here and {@code [n, c, h, w]} there; each convolution and each
 * pooling is between two transpositions, of which runtimes take out those that meet.
 */
final class OnnxNodes {
  /** Far below any score; as {@link Softmax} has it. */
  private static final float HIDDEN = -1e30f;

  private final OnnxGraph graph;
  private final OnnxShapes shapes;
  private final Map<Node, String> names = new HashMap<>();
  private final Map<Node, Extents> extents = new HashMap<>();
  private final List<Node> order;

  private OnnxNodes(OnnxGraph graph, OnnxShapes shapes, List<Node> order) {
    this.graph = graph;
    this.shapes = shapes;
    this.order = order;
  }

  /**
   * Translates what a result needs.
   *
   * @param leaves names of the values that are supplied, by the leaves of the first graph
   * @param few examples of the first graph
   * @param many examples of the second graph
   * @return name of the result
   * @throws ExportException if the graph has an op that has no equivalent, or the two graphs differ
   *     in more than the number of examples
   */
  static String translate(
      OnnxGraph graph,
      OnnxShapes shapes,
      Map<Node, String> leaves,
      Node first,
      int few,
      Node second,
      int many)
      throws ExportException {
    Graph lowered = Graph.of(first).lower(OnnxNodes::isKnown);
    List<Node> order = lowered.topological();
    List<Node> twins = Graph.of(second).lower(OnnxNodes::isKnown).topological();
    if (order.size() != twins.size()) {
      throw new ExportException(
          "its network has %d operations for %d examples and %d for %d"
              .formatted(order.size(), few, twins.size(), many));
    }
    OnnxNodes nodes = new OnnxNodes(graph, shapes, order);
    nodes.names.putAll(leaves);
    for (int i = 0; i < order.size(); i++) {
      nodes.compare(order.get(i), few, twins.get(i), many);
    }
    Node result = lowered.outputs().getFirst();
    Set<Node> needed = nodes.needed(result);
    for (Node node : order) {
      if (needed.contains(node) && !nodes.names.containsKey(node)) {
        nodes.names.put(node, nodes.add(node));
      }
    }
    return nodes.name(result);
  }

  private static boolean isKnown(Fused op) {
    return op instanceof Softmax || op instanceof MaxPool;
  }

  private void compare(Node node, int few, Node twin, int many) throws ExportException {
    Op op = node.op();
    if (!(op instanceof Primitive) && !(op instanceof Fused fused && isKnown(fused))) {
      throw refused(node);
    }
    boolean shaped =
        op instanceof Primitive.Input
            || op instanceof Primitive.Broadcast
            || op instanceof Primitive.Reshape
            || op instanceof Primitive.Iota;
    boolean otherAxis =
        op instanceof Primitive.Iota own
            && twin.op() instanceof Primitive.Iota other
            && own.axis() != other.axis();
    if (otherAxis || (shaped ? !op.name().equals(twin.op().name()) : !op.equals(twin.op()))) {
      throw new ExportException(
          "its network computes %s for %d examples and %s for %d: only shapes may depend on their number"
              .formatted(op, few, twin.op(), many));
    }
    extents.put(node, Extents.of(node.shape(), twin.shape(), few, many));
  }

  /** All that a result needs, where repeated operands are left to the ops that repeat them. */
  private Set<Node> needed(Node result) {
    Set<Node> needed = new HashSet<>(Set.of(result));
    for (Node node : order.reversed()) {
      if (needed.contains(node)) {
        needed.addAll(operands(node));
      }
    }
    return needed;
  }

  private List<Node> operands(Node node) {
    if (!(node.op() instanceof Binary) && !(node.op() instanceof Primitive.Select)) {
      return node.inputs();
    }
    Optional<Concatenation> joined = Concatenation.of(node);
    if (joined.isPresent()) {
      return joined.get().parts();
    }
    List<Node> plain = node.inputs().stream().map(this::unrepeated).toList();
    return extents(node).isCommon(plain.stream().map(this::extents).toList())
        ? plain
        : node.inputs();
  }

  private Node unrepeated(Node node) {
    Node source = node.op() instanceof Primitive.Broadcast ? node.input(0) : node;
    return source.op() instanceof Primitive.Reshape
            && extents(source.input(0)).isEndOf(extents(source))
        ? source.input(0)
        : source;
  }

  private Extents extents(Node node) {
    return Objects.requireNonNull(extents.get(node), () -> "Unvisited " + node);
  }

  private String name(Node node) {
    return Objects.requireNonNull(names.get(node), () -> "Unvisited " + node);
  }

  private static ExportException refused(Node node) {
    return new ExportException(
        "its network uses %s, which a graph for inference cannot have. Export it as safetensors or npz"
            .formatted(node.op().name()));
  }

  private String add(Node node) throws ExportException {
    List<String> from = operands(node).stream().map(this::name).toList();
    return switch (node.op()) {
      case Primitive.Constant(float value) -> graph.floats(new long[0], value);
      case Primitive.Iota op -> iota(node, op);
      case Unary(Unary.Kind kind) -> unary(kind, from);
      case Binary(Binary.Kind kind) ->
          Concatenation.of(node)
              .map(joined -> graph.add("Concat", from, Attribute.of("axis", joined.axis())))
              .orElseGet(() -> binary(kind, from));
      case Primitive.Select _ ->
          graph.add(
              "Where", List.of(cast(from.get(0), OnnxGraph.Type.BOOL), from.get(1), from.get(2)));
      case Primitive.Broadcast _ ->
          graph.add("Expand", List.of(from.getFirst(), shapes.of(extents(node))));
      case Reduce op -> reduce(op, from.getFirst());
      case Primitive.Reshape _ -> reshape(node, from.getFirst());
      case Primitive.Permute op -> transpose(from.getFirst(), longs(op.axes()));
      case Primitive.Slice op ->
          graph.add(
              "Slice",
              List.of(
                  from.getFirst(),
                  graph.longs(op.from()),
                  graph.longs(op.to()),
                  graph.longs(op.axis())));
      case Primitive.Pad op -> pad(op, extents(node).rank(), from.getFirst());
      case Primitive.MatMul op -> matMul(op, node, from);
      case Primitive.Gather _ -> graph.add("Gather", from, Attribute.of("axis", 0));
      case Primitive.OneHot op ->
          graph.add(
              "OneHot",
              List.of(
                  // Few runtimes take 32-bit classes here.
                  cast(from.getFirst(), OnnxGraph.Type.INT64),
                  graph.scalar(op.depth()),
                  graph.floats(new long[] {2}, 0, 1)),
              Attribute.of("axis", -1));
      case Primitive.Convolution op -> convolution(op, node, from);
      case MaxPool op ->
          imageOp(
              "MaxPool",
              List.of(from.getFirst()),
              Attribute.list("kernel_shape", op.size(), op.size()),
              Attribute.list("strides", op.size(), op.size()));
      case Softmax op -> softmax(op, node, from.getFirst());
      default -> throw refused(node);
    };
  }

  private static long[] longs(List<Integer> values) {
    return values.stream().mapToLong(Integer::longValue).toArray();
  }

  private String cast(String value, OnnxGraph.Type type) {
    return graph.add("Cast", List.of(value), Attribute.of("to", type.number()));
  }

  private String transpose(String value, long... axes) {
    return graph.add("Transpose", List.of(value), Attribute.list("perm", axes));
  }

  private String iota(Node node, Primitive.Iota op) throws ExportException {
    Extents whole = extents(node);
    if (whole.grows()[op.axis()]) {
      throw new ExportException("its network numbers the examples of a batch");
    }
    long[] dims = new long[whole.rank()];
    Arrays.fill(dims, 1);
    int count = (int) whole.fixed()[op.axis()];
    dims[op.axis()] = count;
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = i;
    }
    return graph.add("Expand", List.of(graph.floats(dims, values), shapes.of(whole)));
  }

  private String unary(Unary.Kind kind, List<String> from) {
    return switch (kind) {
      case NEGATE -> graph.add("Neg", from);
      case EXP -> graph.add("Exp", from);
      case LOG -> graph.add("Log", from);
      case SQRT -> graph.add("Sqrt", from);
      case RECIPROCAL_ROOT -> graph.add("Reciprocal", List.of(graph.add("Sqrt", from)));
      case TANH -> graph.add("Tanh", from);
      case SIGMOID -> graph.add("Sigmoid", from);
      case RELU -> graph.add("Relu", from);
    };
  }

  private String binary(Binary.Kind kind, List<String> from) {
    return switch (kind) {
      case ADD -> graph.add("Add", from);
      case SUBTRACT -> graph.add("Sub", from);
      case MULTIPLY -> graph.add("Mul", from);
      case DIVIDE -> graph.add("Div", from);
      case MAXIMUM -> graph.add("Max", from);
      case GREATER -> cast(graph.add("Greater", from), OnnxGraph.Type.FLOAT);
    };
  }

  private String reduce(Reduce op, String from) {
    long[] axes = IntStream.range(op.from(), op.to()).asLongStream().toArray();
    Attribute away = Attribute.of("keepdims", 0);
    return switch (op.kind()) {
      // In this operator set the axes of a sum are an input, and those of a maximum are not.
      case SUM -> graph.add("ReduceSum", List.of(from, graph.longs(axes)), away);
      case MAXIMUM -> graph.add("ReduceMax", List.of(from), Attribute.list("axes", axes), away);
    };
  }

  private String reshape(Node node, String from) {
    Extents to = extents(node);
    String shape = to.growing() <= 1 ? graph.longs(to.asReshape()) : shapes.of(to);
    return graph.add("Reshape", List.of(from, shape));
  }

  private String pad(Primitive.Pad op, int rank, String from) {
    long[] pads = new long[2 * rank];
    pads[op.axis()] = op.before();
    pads[rank + op.axis()] = op.after();
    return graph.add("Pad", List.of(from, graph.longs(pads)));
  }

  private String matMul(Primitive.MatMul op, Node node, List<String> from) {
    List<String> operands = new ArrayList<>(from);
    int rank = extents(node).rank();
    long[] turned = IntStream.range(0, rank).asLongStream().toArray();
    turned[rank - 2] = rank - 1L;
    turned[rank - 1] = rank - 2L;
    if (op.transposeLeft()) {
      operands.set(0, transpose(from.get(0), turned));
    }
    if (op.transposeRight()) {
      operands.set(1, transpose(from.get(1), turned));
    }
    return graph.add("MatMul", operands);
  }

  private String convolution(Primitive.Convolution op, Node node, List<String> from) {
    long[] kernel = extents(node.input(1)).fixed();
    return imageOp(
        "Conv",
        List.of(from.get(0), transpose(from.get(1), 3, 2, 0, 1)),
        Attribute.list("kernel_shape", kernel[0], kernel[1]),
        Attribute.list("strides", op.stride(), op.stride()),
        Attribute.list("pads", op.padding(), op.padding(), op.padding(), op.padding()));
  }

  private String imageOp(String op, List<String> from, Attribute... attributes) {
    List<String> operands = new ArrayList<>(from);
    operands.set(0, transpose(from.getFirst(), 0, 3, 1, 2));
    return transpose(graph.add(op, operands, attributes), 0, 2, 3, 1);
  }

  private String softmax(Softmax op, Node node, String scores) {
    String seen = scores;
    if (op.causal()) {
      int side = node.shape().extent(-1);
      boolean[] future = new boolean[side * side];
      for (int i = 0; i < future.length; i++) {
        future[i] = i % side > i / side;
      }
      String mask = graph.booleans(new long[] {side, side}, future);
      seen = graph.add("Where", List.of(mask, graph.floats(new long[0], HIDDEN), scores));
    }
    return graph.add("Softmax", List.of(seen), Attribute.of("axis", -1));
  }
}
