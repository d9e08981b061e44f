package dev.kastor.engine.graph;

import dev.kastor.engine.graph.Primitive.Binary;
import dev.kastor.engine.graph.Primitive.Reduce;
import dev.kastor.engine.graph.Primitive.Unary;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One value of a computation: an op applied to earlier nodes.
 *
 * <p>Immutable; equal only to itself. The methods that build further nodes broadcast as NumPy does:
 * shapes are aligned at their last axis and extents of 1 repeat.
 */
public final class Node {
  private final Op op;
  private final List<Node> inputs;
  private final List<Node> after;
  private final List<Type> types;
  private final String place;

  private Node(Op op, List<Node> inputs, List<Node> after, String place) {
    this.op = op;
    this.place = place;
    this.inputs = List.copyOf(inputs);
    this.after = List.copyOf(after);
    this.types =
        List.copyOf(
            op.results(
                op instanceof Control.Part
                    ? inputs.getFirst().types
                    : this.inputs.stream().map(Node::type).toList()));
  }

  /**
   * Applies an op.
   *
   * @throws ShapeException if the inputs do not fit
   */
  public static Node of(Op op, List<Node> inputs) {
    return new Node(op, inputs, List.of(), "");
  }

  /**
   * Applies an op after others have taken place, whose results it does not need.
   *
   * @throws ShapeException if the inputs do not fit
   */
  public static Node of(Op op, List<Node> inputs, List<Node> after) {
    return new Node(op, inputs, after, "");
  }

  /** Applies an op. */
  public static Node of(Op op, Node... inputs) {
    return of(op, Arrays.asList(inputs));
  }

  /** Stands for all of some nodes having taken place; it has no result. */
  public static Node group(List<Node> nodes) {
    return of(new Control.Group(), List.of(), nodes);
  }

  public static Node input(String label, Type type) {
    return of(new Primitive.Input(label, type));
  }

  public static Node parameter(String label, Shape shape) {
    return of(new Primitive.Parameter(label, shape));
  }

  public static Node constant(double value) {
    return of(new Primitive.Constant((float) value));
  }

  public static Node iota(Shape shape, int axis) {
    return of(new Primitive.Iota(shape, axis));
  }

  public Op op() {
    return op;
  }

  public List<Node> inputs() {
    return inputs;
  }

  public Node input(int index) {
    return inputs.get(index);
  }

  /** What takes place before this without being an input. */
  public List<Node> after() {
    return after;
  }

  /** Inputs, and what else takes place before this. */
  public List<Node> needs() {
    return after.isEmpty() ? inputs : Stream.concat(inputs.stream(), after.stream()).toList();
  }

  /** The types of all results. */
  public List<Type> types() {
    return types;
  }

  /** The type of the only result. */
  public Type type() {
    if (types.size() != 1) {
      throw new IllegalStateException(
          "%s has %d results. Take a part of it.".formatted(op.name(), types.size()));
    }
    return types.getFirst();
  }

  /** One result of several. */
  public Node part(int index) {
    return of(new Control.Part(index), this);
  }

  /** All results as nodes of their own. */
  public List<Node> parts() {
    return IntStream.range(0, types.size()).mapToObj(this::part).toList();
  }

  /** The same op with other inputs; this itself if they are no others. */
  public Node with(List<Node> inputs, List<Node> after) {
    return inputs.equals(this.inputs) && after.equals(this.after)
        ? this
        : new Node(op, inputs, after, place);
  }

  /**
   * The same op, to be computed in a certain place where the graph is spread over devices.
   *
   * @param place the name of a device; empty for anywhere
   */
  public Node at(String place) {
    return new Node(op, inputs, after, place);
  }

  /** Where it is to be computed; empty for anywhere. */
  public String place() {
    return place;
  }

  public Shape shape() {
    return type().shape();
  }

  public boolean isFloat() {
    return type().dtype() == DType.F32;
  }

  /** Whether the value is supplied at run time. */
  public boolean isLeaf() {
    return op instanceof Primitive.Input || op instanceof Primitive.Parameter;
  }

  /**
   * Whether it may be computed together with others that are. Not an increment: what that is given
   * may be changed where it lies.
   */
  public boolean isComputedWithOthers() {
    return op instanceof Pure && !(op instanceof Increment) && !isLeaf();
  }

  public Node negate() {
    return unary(Unary.Kind.NEGATE);
  }

  public Node exp() {
    return unary(Unary.Kind.EXP);
  }

  public Node log() {
    return unary(Unary.Kind.LOG);
  }

  public Node sqrt() {
    return unary(Unary.Kind.SQRT);
  }

  public Node reciprocalRoot() {
    return unary(Unary.Kind.RECIPROCAL_ROOT);
  }

  public Node tanh() {
    return unary(Unary.Kind.TANH);
  }

  public Node sigmoid() {
    return unary(Unary.Kind.SIGMOID);
  }

  public Node relu() {
    return unary(Unary.Kind.RELU);
  }

  private Node unary(Unary.Kind kind) {
    return of(new Unary(kind), this);
  }

  public Node add(Node other) {
    return binary(Binary.Kind.ADD, other);
  }

  public Node subtract(Node other) {
    return binary(Binary.Kind.SUBTRACT, other);
  }

  public Node multiply(Node other) {
    return binary(Binary.Kind.MULTIPLY, other);
  }

  public Node divide(Node other) {
    return binary(Binary.Kind.DIVIDE, other);
  }

  public Node maximum(Node other) {
    return binary(Binary.Kind.MAXIMUM, other);
  }

  /** 1 where this is greater, else 0. */
  public Node greater(Node other) {
    return binary(Binary.Kind.GREATER, other);
  }

  public Node add(double other) {
    return add(constant(other));
  }

  public Node multiply(double other) {
    return multiply(constant(other));
  }

  private Node binary(Binary.Kind kind, Node other) {
    Shape common = common(shape(), other.shape());
    return of(new Binary(kind), broadcast(common), other.broadcast(common));
  }

  /** {@code yes} where this is not 0, else {@code no}. */
  public Node select(Node yes, Node no) {
    Shape common = common(common(shape(), yes.shape()), no.shape());
    return of(
        new Primitive.Select(), broadcast(common), yes.broadcast(common), no.broadcast(common));
  }

  private static Shape common(Shape a, Shape b) {
    if (a.rank() < b.rank()) {
      return common(b, a);
    }
    int[] extents = a.extents();
    for (int i = 1; i <= b.rank(); i++) {
      extents[extents.length - i] = Math.max(a.extent(-i), b.extent(-i));
    }
    return Shape.of(extents);
  }

  /** This value repeated to a shape; leading axes are added as needed. */
  public Node broadcast(Shape to) {
    if (shape().equals(to)) {
      return this;
    }
    int missing = Math.max(0, to.rank() - shape().rank());
    int[] extents = new int[missing + shape().rank()];
    Arrays.fill(extents, 0, missing, 1);
    System.arraycopy(shape().extents(), 0, extents, missing, shape().rank());
    Node aligned = reshape(extents);
    return aligned.shape().equals(to) ? aligned : of(new Primitive.Broadcast(to), aligned);
  }

  /** The sum over adjacent axes {@code [from, to)}, which disappear. */
  public Node sum(int from, int to) {
    return of(new Reduce(Reduce.Kind.SUM, from, to), this);
  }

  /** The mean over adjacent axes {@code [from, to)}, which disappear. */
  public Node mean(int from, int to) {
    return sum(from, to).multiply(1.0 / shape().elements(from, to));
  }

  /** The maximum over adjacent axes {@code [from, to)}, which disappear. */
  public Node maximum(int from, int to) {
    return of(new Reduce(Reduce.Kind.MAXIMUM, from, to), this);
  }

  public Node reshape(int... extents) {
    return reshape(Shape.of(extents));
  }

  public Node reshape(Shape to) {
    if (to.equals(shape())) {
      return this;
    }
    Node from = op instanceof Primitive.Reshape ? inputs.getFirst() : this;
    return to.equals(from.shape()) ? from : of(new Primitive.Reshape(to), from);
  }

  public Node permute(Integer... axes) {
    return of(new Primitive.Permute(List.of(axes)), this);
  }

  public Node slice(int axis, int from, int to) {
    return of(new Primitive.Slice(axis, from, to), this);
  }

  public Node pad(int axis, int before, int after) {
    return of(new Primitive.Pad(axis, before, after), this);
  }

  /** Matrix product; a right operand of rank 2 is shared by all leading axes of this. */
  public Node matMul(Node right) {
    int rank = shape().rank();
    if (right.shape().rank() == 2 && rank > 2) {
      Node flat = reshape(shape().elements(0, rank - 1), shape().extent(-1)).matMul(right);
      return flat.reshape(shape().with(-1, right.shape().extent(1)));
    }
    return matMul(right, false, false);
  }

  public Node matMul(Node right, boolean transposeLeft, boolean transposeRight) {
    return of(new Primitive.MatMul(transposeLeft, transposeRight), this, right);
  }

  /** Rows of this table. */
  public Node gather(Node rows) {
    return of(new Primitive.Gather(), this, rows);
  }

  /** This image {@code [n, h, w, c]} under a kernel {@code [kh, kw, c, o]}. */
  public Node convolve(Node kernel, int stride, int padding) {
    return of(new Primitive.Convolution(stride, padding), this, kernel);
  }

  @Override
  public String toString() {
    return op.name() + (types.size() == 1 ? types.getFirst() : types);
  }
}
