package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.backend.KernelObserver;
import dev.kastor.engine.backend.MemoryPlan;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Turns a lowered graph into kernels over planned memory.
 *
 * <p>A node is <em>inlined</em>, that is computed inside its consumers, or it is a step with a
 * buffer. A reshape is another name for its input's buffer.
 */
final class Compilation {
  private final OneDnn oneDnn;
  private final Graph graph;
  private final @Nullable KernelObserver observer;
  private final List<Node> order;
  private final Map<Node, List<Node>> consumers = new HashMap<>();
  private final Set<Node> outputs = new HashSet<>();
  private final Set<Node> varying = new HashSet<>();
  private final Map<Node, Place> places = new HashMap<>();
  private final Map<Node, Epilogue> epilogues = new HashMap<>();
  private final Map<Node, Join> joins = new HashMap<>();

  /** Nodes that the end of an epilogue or join computes. */
  private final Set<Node> absorbed = new HashSet<>();

  private final Map<Node, Boolean> looked = new HashMap<>();

  Compilation(OneDnn oneDnn, Graph graph, @Nullable KernelObserver observer) {
    this.oneDnn = oneDnn;
    this.graph = graph;
    this.observer = observer;
    this.order = graph.topological();
    graph.outputs().forEach(output -> outputs.add(base(output)));
    for (Node node : order) {
      if (node.isLeaf() || node.inputs().stream().anyMatch(varying::contains)) {
        varying.add(node);
      }
      if (!(node.op() instanceof Primitive.Reshape)) {
        for (Node input : node.inputs()) {
          consumers.computeIfAbsent(base(input), _ -> new ArrayList<>()).add(node);
        }
      }
    }
    joins.putAll(Join.of(order, consumers, outputs));
    joins.forEach((end, join) -> absorb(end, join.pads()));
    epilogues.putAll(Epilogue.of(order, consumers, outputs, node -> !inlined(node)));
    epilogues.forEach((end, epilogue) -> absorb(end, List.of(epilogue.product())));
  }

  /** All that lies between some nodes and the end that computes them. */
  private void absorb(Node end, List<Node> first) {
    for (Node node : first) {
      Node next = node;
      while (next != end && absorbed.add(next)) {
        next = Objects.requireNonNull(consumers.get(next)).getFirst();
      }
    }
  }

  /** The node whose buffer holds a node's values. */
  static Node base(Node node) {
    Node base = node;
    while (base.op() instanceof Primitive.Reshape) {
      base = base.input(0);
    }
    return base;
  }

  /** Whether the consumers of a node compute it themselves. */
  boolean inlined(Node node) {
    List<Node> users = consumers.getOrDefault(node, List.of());
    if (outputs.contains(node) || epilogues.containsKey(node) || joins.containsKey(node)) {
      return false;
    }
    if (absorbed.contains(node)) {
      return true;
    }
    return switch (node.op()) {
      case Primitive.Constant _ ->
          users.stream().allMatch(u -> absorbs(u) || u.op() instanceof Primitive.Broadcast);
      case Primitive.Broadcast _ -> users.stream().allMatch(Compilation::absorbs);
      case Primitive.Permute _, Primitive.Slice _ ->
          users.stream().allMatch(Compilation::absorbs) || looksThrough(node);
      case Primitive.Unary _, Primitive.Binary _, Primitive.Select _ ->
          users.size() == 1 && absorbs(users.getFirst());
      case Primitive.Pad _ ->
          users.size() == 1 && RecurrenceGradient.readsStateOf(users.getFirst(), node);
      default -> false; // Inlining is an optimisation of the ops above only.
    };
  }

  /** Whether only products read a slice or permutation, and can do so where its input lies. */
  private boolean looksThrough(Node node) {
    List<Node> users = consumers.getOrDefault(node, List.of());
    Boolean known = looked.get(node);
    if (known == null) {
      known = !outputs.contains(node) && !users.isEmpty();
      for (int u = 0; u < users.size() && known; u++) {
        Node user = users.get(u);
        known =
            switch (user.op()) {
              case Primitive.MatMul _ -> readable(user, node);
              case Primitive.Permute _, Primitive.Slice _ -> looksThrough(user);
              default -> false; // They want their operands in one piece.
            };
      }
      looked.put(node, known);
    }
    return known;
  }

  /** Whether a product can read its operands that come from a node through all views. */
  private static boolean readable(Node product, Node from) {
    for (Node input : product.inputs()) {
      if (base(input) == from) {
        Strided view = Strided.of(input, _ -> true);
        if (view == null || !view.readable()) {
          return false;
        }
      }
    }
    return true;
  }

  /** How an operand of a product lies in a buffer. */
  Strided strided(Node operand) {
    return Objects.requireNonNull(
        Strided.of(operand, this::looksThrough), () -> "No strides for " + operand);
  }

  /** What a node that ends an epilogue computes; null for others. */
  @Nullable Epilogue epilogue(Node node) {
    return epilogues.get(node);
  }

  /** What a node that ends a join computes; null for others. */
  @Nullable Join join(Node node) {
    return joins.get(node);
  }

  private static boolean absorbs(Node node) {
    return elementwise(node) || node.op() instanceof Primitive.Reduce;
  }

  private static boolean elementwise(Node node) {
    return node.op() instanceof Primitive.Unary
        || node.op() instanceof Primitive.Binary
        || node.op() instanceof Primitive.Select;
  }

  /** The buffers a node's step reads, through what it inlines. */
  private void operands(Node node, Set<Node> found) {
    for (Node input : node.inputs()) {
      Node base = base(input);
      if (inlined(base)) {
        operands(base, found);
      } else {
        found.add(base);
      }
    }
  }

  /** Leaves and results that vary are bound by whoever runs it; the rest shares a slab. */
  CpuExecutable executable(SegmentAllocator memory) {
    List<Node> steps =
        order.stream()
            .filter(node -> !(node.op() instanceof Primitive.Reshape) && !inlined(node))
            .toList();
    MemoryPlan plan = new MemoryPlan();
    Map<Node, MemoryPlan.Buffer> buffers = new HashMap<>();
    for (int i = 0; i < steps.size(); i++) {
      Node node = steps.get(i);
      long bytes = 4L * node.shape().elements();
      places.put(node, new Place(bytes));
      if (!bindable(node)) {
        buffers.put(node, plan.buffer(bytes, i));
      }
      Set<Node> operands = new HashSet<>();
      operands(node, operands);
      for (Node operand : operands) {
        MemoryPlan.Buffer buffer = buffers.get(operand);
        if (buffer != null) {
          buffer.usedAt(i);
        }
      }
      if (!varying.contains(node)) {
        get(buffers, node).keep();
      }
    }
    long size = plan.place();
    MemorySegment slab = memory.allocate(Math.max(size, Tensor.ALIGNMENT), Tensor.ALIGNMENT);
    buffers.forEach((node, buffer) -> place(node).bind(buffer.in(slab)));
    return bind(steps, memory, plan);
  }

  private boolean bindable(Node node) {
    return node.isLeaf() || (outputs.contains(node) && varying.contains(node));
  }

  private CpuExecutable bind(List<Node> steps, SegmentAllocator memory, MemoryPlan plan) {
    Kernels kernels = new Kernels(oneDnn, this);
    List<Kernel> each = new ArrayList<>();
    Map<Node, Place> inputs = new HashMap<>();
    Map<Node, Integer> written = new HashMap<>();
    long bound = steps.stream().filter(this::bindable).mapToLong(node -> place(node).bytes()).sum();
    for (int i = 0; i < steps.size(); i++) {
      Node node = steps.get(i);
      if (node.isLeaf()) {
        inputs.put(node, place(node));
        continue;
      }
      Kernel kernel = kernels.of(node);
      if (varying.contains(node)) {
        written.put(node, each.size());
        each.add(
            observer == null
                ? kernel
                : new ObservedKernel(
                    kernel, observer.compiled(described(node, bound + plan.aliveAt(i)))));
      } else {
        kernel.run();
        kernel.close();
      }
    }
    List<CpuExecutable.Output> results = new ArrayList<>();
    Set<Node> taken = new HashSet<>();
    for (Node output : graph.outputs()) {
      Node base = base(output);
      boolean own = !base.isLeaf() && varying.contains(base) && taken.add(base);
      int kernel = written.getOrDefault(base, -1);
      results.add(new CpuExecutable.Output(output.type(), place(output), own, kernel));
    }
    return new CpuExecutable(oneDnn, memory, inputs, each, results);
  }

  private KernelObserver.Kernel described(Node node, long aliveBytes) {
    Set<Node> operands = new LinkedHashSet<>();
    operands(node, operands);
    long bytes = place(node).bytes();
    for (Node operand : operands) {
      bytes += place(operand).bytes();
    }
    return new KernelObserver.Kernel(
        KernelName.of(node, this),
        node.type().toString(),
        operands.stream().map(operand -> operand.type().toString()).toList(),
        bytes,
        aliveBytes);
  }

  Team team() {
    return oneDnn.team();
  }

  /** Where a node is that is not inlined. */
  Place place(Node node) {
    return get(places, base(node));
  }

  private static <V> V get(Map<Node, V> map, Node node) {
    return Objects.requireNonNull(map.get(node), () -> "Nothing planned for " + node);
  }
}
