package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.tensor.Shape;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Folds axes of an expression that is computed on the way.
 *
 * <p>Sums are in float within a block, or a few dozen rows, and in double across them.
 */
final class Reduction implements Team.Part {
  /** Rows that are added in float before their sum is added in double. */
  private static final int ROWS = 64;

  private final Primitive.Reduce.Kind kind;
  private final Expression expression;
  private final float[] values;
  private final int outer;
  private final int folded;
  private final int inner;
  private final Place out;
  private final double[] totals;
  private final float[] partial;

  /** Elements in the partial sums. */
  private int pending;

  private Reduction(
      Primitive.Reduce.Kind kind,
      Expression expression,
      float[] values,
      int outer,
      int folded,
      int inner,
      Place out) {
    this.kind = kind;
    this.expression = expression;
    this.values = values;
    this.outer = outer;
    this.folded = folded;
    this.inner = inner;
    this.out = out;
    this.totals = new double[inner];
    this.partial = new float[inner];
  }

  static Kernel of(Compilation compilation, Primitive.Reduce reduce, Node node, Place out) {
    Shape shape = node.input(0).shape();
    int folded = shape.elements(reduce.from(), reduce.to());
    int inner = shape.elements(reduce.to(), shape.rank());
    int outer = shape.elements(0, reduce.from());
    return compilation
        .team()
        .loop(
            outer,
            shape.elements(),
            () -> part(compilation, reduce, node, out, outer, folded, inner));
  }

  private static Reduction part(
      Compilation compilation,
      Primitive.Reduce reduce,
      Node node,
      Place out,
      int outer,
      int folded,
      int inner) {
    Expression expression = new Expression(inner);
    int root = Elementwise.operand(compilation, expression, node.input(0));
    return new Reduction(
        reduce.kind(), expression, expression.values(root), outer, folded, inner, out);
  }

  @Override
  public void run(int first, int last) {
    expression.begin(outer * folded * inner);
    Arrays.fill(partial, 0);
    pending = 0;
    for (int o = first; o < last; o++) {
      Arrays.fill(totals, kind == Primitive.Reduce.Kind.SUM ? 0 : Double.NEGATIVE_INFINITY);
      int end = (o + 1) * folded * inner;
      for (int start = o * folded * inner; start < end; start += expression.size()) {
        int count = Math.min(expression.size(), end - start);
        expression.evaluate(start, count);
        fold(count);
      }
      flush();
      for (int i = 0; i < inner; i++) {
        out.segment().setAtIndex(ValueLayout.JAVA_FLOAT, (long) o * inner + i, (float) totals[i]);
      }
    }
  }

  private void fold(int count) {
    switch (kind) {
      case SUM -> {
        if (inner == 1) {
          totals[0] += Loops.sum(values, 0, count);
          return;
        }
        int row = 0;
        for (; row + inner < count; row += 2 * inner) {
          addRows(values, row, partial, inner);
        }
        if (row < count) {
          addRow(values, row, partial, inner);
        }
        pending += count;
        if (pending >= ROWS * inner) {
          flush();
        }
      }
      case MAXIMUM -> {
        for (int i = 0; i < count; i++) {
          totals[i % inner] = Math.max(totals[i % inner], values[i]);
        }
      }
    }
  }

  /** Adds the partial sums to the totals. */
  private void flush() {
    if (pending > 0) {
      for (int i = 0; i < inner; i++) {
        totals[i] += partial[i];
      }
      Arrays.fill(partial, 0);
      pending = 0;
    }
  }

  /** Two rows at once, which halves the way of the sums to memory and back. */
  private static void addRows(float[] values, int row, float[] sums, int inner) {
    int next = row + inner;
    for (int i = 0; i < inner; i++) {
      sums[i] += values[row + i] + values[next + i];
    }
  }

  private static void addRow(float[] values, int row, float[] sums, int inner) {
    for (int i = 0; i < inner; i++) {
      sums[i] += values[row + i];
    }
  }
}
