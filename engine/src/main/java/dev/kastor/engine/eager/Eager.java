package dev.kastor.engine.eager;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.exec.MemoryCapException;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Op;
import dev.kastor.engine.graph.Pure;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Gives values to nodes one op at a time, as the program asks for them.
 *
 * <p>A node knows how it came about, so the nodes are the tape from which {@code Gradients} are
 * taken; what was computed on the way is remembered for as long as the program can reach it.
 * Branches and loops may be written in Java, on values. Each op is compiled once for the types of
 * its inputs, and again if a thousand others came between. One thread at a time.
 */
public final class Eager implements AutoCloseable {
  private static final int MOST_KERNELS = 1000;

  private record Key(Op op, List<Type> operands) {}

  private record Kernel(List<Node> operands, Node result) {}

  private final Session session;
  private final Map<Key, Kernel> kernels = new LinkedHashMap<>(16, 0.75f, true);
  private final KnownValues known = new KnownValues();

  /**
   * Begins without values.
   *
   * @param capBytes the most memory that values and compiled code take together
   */
  public Eager(Backend backend, long capBytes) {
    session = new Session(backend, capBytes, 1);
  }

  /** A node with these values. */
  public Node of(Shape shape, float... values) {
    return leaf(new Type(shape, DType.F32), values.length, tensor -> tensor.write(values, 0));
  }

  /** A node with these whole numbers. */
  public Node of(Shape shape, int... values) {
    return leaf(new Type(shape, DType.I32), values.length, tensor -> tensor.write(values, 0));
  }

  private Node leaf(Type type, int count, Consumer<Tensor> write) {
    if (count != type.shape().elements()) {
      throw new IllegalArgumentException(
          "%d values cannot have the shape %s.".formatted(count, type.shape()));
    }
    Value value = session.memory().allocate(type, "A value of shape " + type);
    write.accept(value.tensor());
    return leaf(value, type);
  }

  /** A node that knows nothing but a value, which is taken over. */
  Node leaf(Value value, Type type) {
    Node leaf = Node.input("value", type);
    known.put(leaf, List.of(value));
    return leaf;
  }

  /** A node with the value of another and without its past. */
  public Node detach(Node node) throws InterruptedException {
    return leaf(single(node).retain(), node.type());
  }

  /**
   * The value of a node; valid as long as the node can be reached.
   *
   * @throws IllegalArgumentException if the node needs a leaf without a value
   * @throws InterruptedException if this thread is interrupted while an effect waits
   */
  public Tensor value(Node node) throws InterruptedException {
    return single(node).tensor();
  }

  /** The only element of a node's value. */
  public float scalar(Node node) throws InterruptedException {
    if (node.shape().elements() != 1) {
      throw new IllegalArgumentException(node + " is no scalar.");
    }
    return value(node).get(0);
  }

  /** Makes an effect take place, unless it has. */
  public void run(Node node) throws InterruptedException {
    values(node);
  }

  /** The value of a node with one result; held by this. */
  Value single(Node node) throws InterruptedException {
    return values(node).getFirst();
  }

  /** Says what the results of a node are; takes the values over. */
  void know(Node node, Value value) {
    known.put(node, List.of(value));
  }

  boolean knows(Node node) {
    return known.contains(node);
  }

  Session session() {
    return session;
  }

  private List<Value> values(Node wanted) throws InterruptedException {
    known.releaseUnreachable();
    List<Value> values = known.get(wanted);
    if (values == null) {
      values = List.of();
      for (Node node : Graph.of(wanted).topological(known::contains)) {
        values = compute(node);
        known.put(node, values);
      }
    }
    return values;
  }

  private List<Value> compute(Node node) throws InterruptedException {
    if (node.op() instanceof Control.Part part) {
      return List.of(values(node.input(0)).get(part.index()).retain());
    }
    if (node.isLeaf()) {
      throw new IllegalArgumentException("%s has no value.".formatted(node));
    }
    List<Value> operands = new ArrayList<>();
    for (Node input : node.inputs()) {
      operands.add(single(input));
    }
    try {
      return compute(node, operands);
    } catch (MemoryCapException e) {
      if (known.findUnreachable()) {
        return compute(node, operands);
      }
      throw e;
    }
  }

  private List<Value> compute(Node node, List<Value> operands) throws InterruptedException {
    List<Type> types = node.inputs().stream().map(Node::type).toList();
    if (node.op() instanceof Pure) {
      Kernel kernel = kernels.computeIfAbsent(new Key(node.op(), types), Eager::kernel);
      forgetOldest();
      return session.values(feeds(kernel, operands), List.of(kernel.result));
    }
    // Bodies are new each time that a program comes to them, and effects are few.
    Kernel kernel = kernel(new Key(node.op(), types));
    List<Node> fetches =
        kernel.result.types().size() == 1 ? List.of(kernel.result) : kernel.result.parts();
    if (fetches.isEmpty()) {
      session.runOnce(feeds(kernel, operands), kernel.result);
      return List.of();
    }
    return session.valuesOnce(feeds(kernel, operands), fetches);
  }

  /** A program may use constants or slices without end that are all different. */
  private void forgetOldest() {
    if (kernels.size() > MOST_KERNELS) {
      var oldest = kernels.entrySet().iterator();
      Kernel kernel = oldest.next().getValue();
      oldest.remove();
      session.forget(Set.copyOf(kernel.operands), List.of(kernel.result));
    }
  }

  private static Kernel kernel(Key key) {
    List<Node> operands = key.operands().stream().map(type -> Node.input("operand", type)).toList();
    return new Kernel(operands, Node.of(key.op(), operands));
  }

  private static Map<Node, Value> feeds(Kernel kernel, List<Value> operands) {
    Map<Node, Value> feeds = new HashMap<>();
    for (int i = 0; i < operands.size(); i++) {
      feeds.put(kernel.operands().get(i), operands.get(i));
    }
    return feeds;
  }

  /** Frees all values. */
  @Override
  public void close() {
    session.close();
  }
}
