package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.backend.MemoryPlan;
import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Effect;
import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Primitive.Reduce;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A graph of primitives as kernels over buffers in one slab of device memory. Needs no GPU.
 *
 * <p>Leaves, outputs and whatever is folded or multiplied have buffers, as have elements that would
 * be computed more than once if they had none. The rest is computed where it is read.
 */
final class Compilation {
  /** A longer expression would need more registers than a thread has. */
  private static final int LARGEST_EXPRESSION = 48;

  private final List<Node> outputs;
  private final List<Node> order;
  private final Map<Node, List<Node>> consumers = new HashMap<>();
  private final Set<Node> buffered = new HashSet<>();
  private final boolean library;
  private final Set<Node> outside;
  private final Map<Node, Correlation> correlations = new HashMap<>();

  /** Kernels with the filters first, for the library of convolutions. */
  private final Map<Node, Node> turned = new HashMap<>();

  private final Set<Node> factors = new HashSet<>();
  private final List<Task> tasks = new ArrayList<>();
  private final Map<Node, MemoryPlan.Buffer> buffers = new HashMap<>();
  private final MemoryPlan plan = new MemoryPlan();
  private long bytes;

  /**
   * Compiles a graph all of whose buffers are in the slab.
   *
   * @param graph of primitives alone
   * @param library whether products of dense matrices are a library's
   * @param convolves which convolutions are a library's
   * @throws IllegalArgumentException for control flow and effects, which need an executor
   */
  Compilation(Graph graph, boolean library, Predicate<Correlation> convolves) {
    this(graph, library, convolves, Set.of());
  }

  /**
   * The same where some buffers lie elsewhere.
   *
   * @param outside nodes that have theirs outside of the slab
   */
  Compilation(Graph graph, boolean library, Predicate<Correlation> convolves, Set<Node> outside) {
    this.library = library;
    this.outside = Set.copyOf(outside);
    outputs = graph.outputs();
    List<Node> all = turning(graph.topological(), convolves);
    order = all.stream().filter(node -> !(node.op() instanceof Primitive.Reshape)).toList();
    for (Node node : all) {
      for (Node input : inputs(node)) {
        consumers.computeIfAbsent(input, _ -> new ArrayList<>()).add(node);
      }
      if (gemm(node) != null || correlations.containsKey(node)) {
        inputs(node).forEach(input -> factors.add(base(input)));
      }
    }
    decide();
    place();
  }

  /** Finds the convolutions of the library, and places what turns their kernels before them. */
  private List<Node> turning(List<Node> nodes, Predicate<Correlation> convolves) {
    List<Node> all = new ArrayList<>();
    for (Node node : nodes) {
      Correlation correlation = Correlation.of(node);
      if (correlation != null && convolves.test(correlation)) {
        correlations.put(node, correlation);
        if (correlation.wanted() != Correlation.Wanted.FILTER
            && !turned.containsKey(node.input(1))) {
          Node filter = node.input(1).permute(3, 0, 1, 2);
          turned.put(node.input(1), filter);
          all.add(filter);
        }
      }
      all.add(node);
    }
    return all;
  }

  /** What a node's task reads: of the library's convolutions in the order that it wants. */
  private List<Node> inputs(Node node) {
    Correlation correlation = correlations.get(node);
    return correlation == null
        ? node.inputs()
        : switch (correlation.wanted()) {
          case RESULT -> List.of(node.input(0), filter(node));
          case IMAGE -> List.of(filter(node), node.input(0));
          case FILTER -> node.inputs();
        };
  }

  private Node filter(Node node) {
    return Objects.requireNonNull(turned.get(node.input(1)));
  }

  private void decide() {
    outputs.forEach(output -> buffered.add(base(output)));
    Map<Node, Integer> sizes = new HashMap<>();
    for (Node node : order) {
      int size = 1;
      for (Node input : inputs(node)) {
        size += sizes.getOrDefault(base(input), 0);
      }
      boolean own =
          buffered.contains(node)
              || factors.contains(node)
              || switch (node.op()) {
                case Primitive primitive -> ownBuffer(primitive, node, size);
                case Fused _ -> throw new IllegalStateException(node + " was not lowered.");
                case Effect _, Control _ ->
                    throw new IllegalArgumentException(
                        node + " needs an executor: it is no pure op.");
              };
      if (own) {
        buffered.add(node);
      } else {
        sizes.put(node, size);
      }
    }
  }

  private boolean ownBuffer(Primitive primitive, Node node, int size) {
    return switch (primitive) {
      case Primitive.Input _,
          Primitive.Parameter _,
          Reduce _,
          Primitive.MatMul _,
          Primitive.ScatterAdd _,
          Primitive.Convolution _,
          Primitive.ConvolutionImage _,
          Primitive.ConvolutionKernel _ ->
          true;
      case Primitive.Unary _, Primitive.Binary _, Primitive.Select _ ->
          size > LARGEST_EXPRESSION || !readOnce(node);
      case Primitive.Constant _,
          Primitive.Iota _,
          Primitive.Broadcast _,
          Primitive.Permute _,
          Primitive.Slice _,
          Primitive.Pad _,
          Primitive.Gather _,
          Primitive.OneHot _ ->
          size > LARGEST_EXPRESSION;
      case Primitive.Reshape _ -> throw new IllegalStateException(node + " is no step.");
    };
  }

  /** Whether each element is read once at most, so that computing it there costs nothing. */
  private boolean readOnce(Node node) {
    List<Node> users = consumers.getOrDefault(node, List.of());
    return users.size() == 1
        && switch (users.getFirst().op()) {
          case Primitive.Unary _, Primitive.Binary _, Primitive.Select _, Reduce _ -> true;
          case Primitive.Reshape _, Primitive.Permute _, Primitive.Slice _, Primitive.Pad _ ->
              !outputs.contains(users.getFirst()) && readOnce(users.getFirst());
          default -> false; // A product or a broadcast reads it many times.
        };
  }

  private void place() {
    List<Node> steps = order.stream().filter(buffered::contains).toList();
    for (int i = 0; i < steps.size(); i++) {
      Node node = steps.get(i);
      int step = i;
      if (!outside.contains(node)) {
        allocate(node, i);
      }
      Set<Node> operands = new HashSet<>();
      operands(node, operands);
      operands.removeAll(outside);
      operands.forEach(operand -> buffer(operand).usedAt(step));
      if (!node.isLeaf()) {
        launch((Primitive) node.op(), node, i);
      }
    }
    Stream.concat(steps.stream().filter(Node::isLeaf), outputs.stream().map(Compilation::base))
        .filter(node -> !outside.contains(node))
        .forEach(node -> buffer(node).keep());
    bytes = plan.place();
  }

  private void allocate(Node node, int step) {
    buffers.put(node, plan.buffer(bytes(node), step));
  }

  private @Nullable Gemm gemm(Node node) {
    return library ? Gemm.of(node) : null;
  }

  private void launch(Primitive primitive, Node node, int step) {
    Gemm gemm = gemm(node);
    if (gemm != null) {
      tasks.add(new Task.Multiplication(gemm, node.input(0), node.input(1), node));
      return;
    }
    Correlation correlation = correlations.get(node);
    if (correlation != null) {
      convolution(correlation, node, step);
      return;
    }
    Loops loops = new Loops(buffered::contains);
    switch (primitive) {
      case Reduce reduce -> tasks.add(loops.reduce(name(), reduce, node));
      case Primitive.ScatterAdd _ -> tasks.add(loops.scatterAdd(name(), node));
      case Primitive.MatMul op ->
          product(node, step, Operands.size(op, node), Operands.sides(op, node));
      case Primitive.Convolution op ->
          product(node, step, Operands.size(op, node), Operands.sides(op, node));
      case Primitive.ConvolutionImage op ->
          product(node, step, Operands.size(op, node), Operands.sides(op, node));
      case Primitive.ConvolutionKernel op ->
          product(node, step, Operands.size(op, node), Operands.sides(op, node));
      default -> tasks.add(loops.elementwise(name(), node));
    }
  }

  private void convolution(Correlation correlation, Node node, int step) {
    List<Node> inputs = inputs(node);
    if (correlation.wanted() != Correlation.Wanted.FILTER) {
      tasks.add(new Task.Convolution(correlation, inputs.get(0), inputs.get(1), node));
      return;
    }
    Node gradient = Node.input("filtersFirst", new Type(correlation.filter(), DType.F32));
    buffered.add(gradient);
    allocate(gradient, step);
    tasks.add(new Task.Convolution(correlation, inputs.get(0), inputs.get(1), gradient));
    Node back = gradient.permute(1, 2, 3, 0);
    tasks.add(new Loops(buffered::contains).elementwise(name(), back).into(node));
  }

  private void product(Node node, int step, Product.Size size, Product.Sides sides) {
    if (size.parts() == 1) {
      tasks.add(Product.kernel(name(), size, sides, buffered::contains, node));
      return;
    }
    Node partial = Node.input("partial", Type.f32(size.parts(), size.rows(), size.columns()));
    buffered.add(partial);
    allocate(partial, step);
    tasks.add(Product.kernel(name(), size, sides, buffered::contains, partial));
    Reduce sum = new Reduce(Reduce.Kind.SUM, 0, 1);
    Launch last = new Loops(buffered::contains).reduce(name(), sum, Node.of(sum, partial));
    tasks.add(last.into(node));
  }

  private String name() {
    return "kastor_" + tasks.size();
  }

  /** The buffers that a node's kernel reads, through what it computes itself. */
  private void operands(Node node, Set<Node> found) {
    for (Node input : inputs(node)) {
      Node base = base(input);
      if (buffered.contains(base)) {
        found.add(base);
      } else {
        operands(base, found);
      }
    }
  }

  /** The node whose buffer a node has: itself, or what was reshaped. */
  static Node base(Node node) {
    Node base = node;
    while (base.op() instanceof Primitive.Reshape) {
      base = base.input(0);
    }
    return base;
  }

  /** What is done, in order. */
  List<Task> tasks() {
    return tasks;
  }

  /** The kernels among it. */
  List<Launch> launches() {
    return tasks.stream().filter(Launch.class::isInstance).map(Launch.class::cast).toList();
  }

  /** All kernels as the text of one module. */
  String module() {
    StringBuilder text = new StringBuilder(Ptx.HEADER);
    launches().forEach(launch -> text.append(launch.text()));
    return text.toString();
  }

  /** How many of the tasks it takes until an output is there; 0 for a leaf. */
  int doneBy(Node output) {
    Node base = base(output);
    int done = tasks.size();
    while (done > 0 && tasks.get(done - 1).result() != base) {
      done--;
    }
    return done;
  }

  /** What needs the most memory, for people. */
  String largest() {
    return buffers.keySet().stream()
        .max(Comparator.comparingLong(Compilation::bytes))
        .map(node -> "%s with %d bytes".formatted(node, bytes(node)))
        .orElse("nothing");
  }

  private static long bytes(Node node) {
    return (long) node.type().dtype().bytes() * node.shape().elements();
  }

  /** Bytes of device memory. */
  long bytes() {
    return bytes;
  }

  /** Where the buffer of a node begins in the slab, in bytes. */
  long offset(Node node) {
    return buffer(base(node)).offset();
  }

  /** The leaves that the outputs depend on. */
  List<Node> leaves() {
    return order.stream().filter(Node::isLeaf).toList();
  }

  private MemoryPlan.Buffer buffer(Node node) {
    return Objects.requireNonNull(buffers.get(node), () -> "No buffer for " + node);
  }
}
