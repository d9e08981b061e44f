package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.tensor.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Builds the expression of a node from all that it inlines. */
final class Elementwise {
  /** Longest cycle of a repeated operand that blocks are fitted to. */
  private static final int LONGEST_PERIOD = 2048;

  private final Compilation compilation;
  private final Expression expression;

  private Elementwise(Compilation compilation, Expression expression) {
    this.compilation = compilation;
    this.expression = expression;
  }

  /** A kernel that computes a node's elements into memory. */
  static Kernel store(Compilation compilation, Node node, Place out) {
    int unit = Math.max(1, period(compilation, node));
    int elements = node.shape().elements();
    int block = new Expression(unit).size();
    return compilation
        .team()
        .loop(
            (elements - 1) / block + 1,
            elements,
            () -> part(compilation, node, out, unit, elements));
  }

  private static Team.Part part(
      Compilation compilation, Node node, Place out, int unit, int elements) {
    Expression expression = new Expression(unit);
    int root = new Elementwise(compilation, expression).compute(node);
    float[] values = expression.values(root);
    int block = expression.size();
    return (first, last) -> {
      expression.begin(elements);
      MemorySegment to = out.segment();
      for (int start = first * block; start < Math.min(last * block, elements); start += block) {
        int count = Math.min(block, elements - start);
        expression.evaluate(start, count);
        MemorySegment.copy(values, 0, to, ValueLayout.JAVA_FLOAT, 4L * start, count);
      }
    };
  }

  /** Adds the values of a node that another step reads; returns their block. */
  static int operand(Compilation compilation, Expression expression, Node node) {
    return new Elementwise(compilation, expression).read(node);
  }

  private int read(Node node) {
    Node base = Compilation.base(node);
    return compilation.inlined(base)
        ? compute(base)
        : expression.load(View.dense(compilation.place(base), base.shape()));
  }

  private int compute(Node node) {
    if (node.op() instanceof Primitive.Constant constant) {
      return expression.literal(constant.value());
    }
    if (node.op() instanceof Primitive.Unary op) {
      return expression.unary(op.kind(), read(node.input(0)));
    }
    if (node.op() instanceof Primitive.Binary op) {
      Node gate = op.kind() == Primitive.Binary.Kind.MULTIPLY ? positive(node.input(0)) : null;
      if (gate != null) {
        int tested = read(gate);
        return expression.gate(tested, read(node.input(1)));
      }
      int left = read(node.input(0));
      return expression.binary(op.kind(), left, read(node.input(1)));
    }
    if (node.op() instanceof Primitive.Select) {
      int condition = read(node.input(0));
      int yes = read(node.input(1));
      return expression.select(condition, yes, read(node.input(2)));
    }
    Node source = Compilation.base(node.input(0));
    if (source.op() instanceof Primitive.Constant constant) {
      return expression.literal(constant.value());
    }
    return expression.load(view(compilation, node));
  }

  /** What is compared with 0 if an inlined operand is whether something is greater; else null. */
  private @Nullable Node positive(Node operand) {
    Node base = Compilation.base(operand);
    if (!compilation.inlined(base)
        || !(base.op() instanceof Primitive.Binary op)
        || op.kind() != Primitive.Binary.Kind.GREATER) {
      return null;
    }
    Node right = Compilation.base(base.input(1));
    Node bound =
        right.op() instanceof Primitive.Broadcast ? Compilation.base(right.input(0)) : right;
    boolean zero = bound.op() instanceof Primitive.Constant constant && constant.value() == 0;
    return zero ? base.input(0) : null;
  }

  /** The elements of a broadcast, permutation or slice, in place in its input. */
  private static View view(Compilation compilation, Node node) {
    Shape from = node.input(0).shape();
    int[] dense = from.strides();
    int[] strides = dense.clone();
    int offset = 0;
    if (node.op() instanceof Primitive.Broadcast) {
      for (int axis = 0; axis < dense.length; axis++) {
        strides[axis] = from.extent(axis) == 1 ? 0 : dense[axis];
      }
    } else if (node.op() instanceof Primitive.Permute permute) {
      for (int axis = 0; axis < dense.length; axis++) {
        strides[axis] = dense[permute.axes().get(axis)];
      }
    } else if (node.op() instanceof Primitive.Slice slice) {
      offset = slice.from() * dense[slice.axis()];
    } else {
      throw new IllegalStateException(node + " is no view.");
    }
    return View.strided(compilation.place(node.input(0)), offset, node.shape(), strides);
  }

  /** The longest cycle among the repeated operands of a node, or 0. */
  private static int period(Compilation compilation, Node node) {
    if (node.op() instanceof Primitive.Broadcast) {
      if (Compilation.base(node.input(0)).op() instanceof Primitive.Constant) {
        return 0;
      }
      int period = view(compilation, node).period();
      return period <= LONGEST_PERIOD ? period : 0;
    }
    int longest = 0;
    for (Node input : node.inputs()) {
      Node base = Compilation.base(input);
      if (compilation.inlined(base)) {
        longest = Math.max(longest, period(compilation, base));
      }
    }
    return longest;
  }
}
