package dev.kastor.engine.backend.reference;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.tensor.Shape;

/** Ops that only place elements. */
final class Movement {
  private Movement() {}

  static double[] iota(Primitive.Iota op) {
    double[] out = new double[op.shape().elements()];
    int stride = op.shape().strides()[op.axis()];
    for (int i = 0; i < out.length; i++) {
      out[i] = i / stride % op.shape().extent(op.axis());
    }
    return out;
  }

  static double[] broadcast(Node node, double[] in) {
    Shape from = node.input(0).shape();
    int[] strides = from.strides();
    for (int axis = 0; axis < strides.length; axis++) {
      strides[axis] = from.extent(axis) == 1 ? 0 : strides[axis];
    }
    return strided(node.shape(), strides, 0, in);
  }

  static double[] permute(Primitive.Permute op, Node node, double[] in) {
    int[] from = node.input(0).shape().strides();
    int[] strides = op.axes().stream().mapToInt(axis -> from[axis]).toArray();
    return strided(node.shape(), strides, 0, in);
  }

  static double[] slice(Primitive.Slice op, Node node, double[] in) {
    int[] strides = node.input(0).shape().strides();
    return strided(node.shape(), strides, op.from() * strides[op.axis()], in);
  }

  private static double[] strided(Shape shape, int[] strides, int offset, double[] in) {
    double[] out = new double[shape.elements()];
    int[] dense = shape.strides();
    for (int i = 0; i < out.length; i++) {
      int at = offset;
      for (int axis = 0; axis < dense.length; axis++) {
        at += i / dense[axis] % shape.extent(axis) * strides[axis];
      }
      out[i] = in[at];
    }
    return out;
  }

  static double[] pad(Primitive.Pad op, Node node, double[] in) {
    double[] out = new double[node.shape().elements()];
    Shape from = node.input(0).shape();
    int run = from.elements(op.axis(), from.rank());
    int wide = node.shape().elements(op.axis(), from.rank());
    int lead = op.before() * from.elements(op.axis() + 1, from.rank());
    for (int i = 0; i < in.length; i++) {
      out[i / run * wide + lead + i % run] = in[i];
    }
    return out;
  }

  static double[] gather(Node node, double[] table, double[] rows) {
    int width = node.shape().extent(-1);
    double[] out = new double[node.shape().elements()];
    for (int i = 0; i < rows.length; i++) {
      System.arraycopy(table, ((int) rows[i]) * width, out, i * width, width);
    }
    return out;
  }

  static double[] scatterAdd(Node node, double[] values, double[] rows) {
    int width = node.shape().extent(1);
    double[] out = new double[node.shape().elements()];
    for (int i = 0; i < values.length; i++) {
      out[((int) rows[i / width]) * width + i % width] += values[i];
    }
    return out;
  }

  static double[] oneHot(Primitive.OneHot op, double[] classes) {
    double[] out = new double[classes.length * op.depth()];
    for (int i = 0; i < classes.length; i++) {
      out[i * op.depth() + (int) classes[i]] = 1;
    }
    return out;
  }
}
