package dev.kastor.engine.graph;

import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.util.List;

/** The closed set of ops that every backend computes. */
public sealed interface Primitive extends Pure {
  /** A value supplied for each run. */
  record Input(String label, Type type) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return type;
    }
  }

  /** A trained value, supplied for each run. */
  record Parameter(String label, Shape shape) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Type.f32(shape);
    }
  }

  /** A scalar. */
  record Constant(float value) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Type.f32();
    }
  }

  /** The position along an axis: element {@code [i, j, ..]} is the index at {@code axis}. */
  record Iota(Shape shape, int axis) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Type.f32(shape);
    }
  }

  /** A function of each element. */
  record Unary(Unary.Kind kind) implements Primitive {
    /** Which function; RECIPROCAL_ROOT is {@code 1/sqrt(x)}. */
    public enum Kind {
      NEGATE,
      EXP,
      LOG,
      SQRT,
      RECIPROCAL_ROOT,
      TANH,
      SIGMOID,
      RELU
    }

    @Override
    public Type infer(List<Type> inputs) {
      return Inference.elementwise(this, inputs, 1);
    }

    @Override
    public String name() {
      return "Unary." + kind;
    }
  }

  /** A function of two elements at the same place; comparisons give 0 or 1. */
  record Binary(Binary.Kind kind) implements Primitive {
    /** Which function. */
    public enum Kind {
      ADD,
      SUBTRACT,
      MULTIPLY,
      DIVIDE,
      MAXIMUM,
      GREATER
    }

    @Override
    public Type infer(List<Type> inputs) {
      return Inference.elementwise(this, inputs, 2);
    }

    @Override
    public String name() {
      return "Binary." + kind;
    }
  }

  /** The second input where the first is not 0, else the third. */
  record Select() implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Inference.elementwise(this, inputs, 3);
    }
  }

  /** Repeats along axes of extent 1; the rank stays. */
  record Broadcast(Shape shape) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Inference.broadcast(this, inputs);
    }
  }

  /** Folds the adjacent axes {@code [from, to)} away. */
  record Reduce(Reduce.Kind kind, int from, int to) implements Primitive {
    /** How elements are folded. */
    public enum Kind {
      SUM,
      MAXIMUM
    }

    @Override
    public Type infer(List<Type> inputs) {
      return Inference.reduce(this, inputs);
    }

    @Override
    public String name() {
      return "Reduce." + kind;
    }
  }

  /** The same elements in row-major order under another shape. */
  record Reshape(Shape shape) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Inference.reshape(this, inputs);
    }
  }

  /** Reorders axes: result axis i is input axis {@code axes[i]}. */
  record Permute(List<Integer> axes) implements Primitive {
    public Permute {
      axes = List.copyOf(axes);
    }

    @Override
    public Type infer(List<Type> inputs) {
      return Inference.permute(this, inputs);
    }
  }

  /** Positions {@code [from, to)} of one axis. */
  record Slice(int axis, int from, int to) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Inference.slice(this, inputs);
    }
  }

  /** Adds zeros before and after along one axis. */
  record Pad(int axis, int before, int after) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Inference.pad(this, inputs);
    }
  }

  /**
   * Matrix product over the last two axes, {@code [.., m, k] x [.., k, n] -> [.., m, n]}; leading
   * axes agree. A transposed operand is stored as {@code [.., k, m]} or {@code [.., n, k]}.
   */
  record MatMul(boolean transposeLeft, boolean transposeRight) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Inference.matMul(this, inputs);
    }
  }

  /** Rows of a table {@code [rows, width]} by number {@code [..]}: {@code [.., width]}. */
  record Gather() implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Inference.gather(this, inputs);
    }
  }

  /** Adds values {@code [.., width]} into rows, numbered {@code [..]}, of {@code [rows, width]}. */
  record ScatterAdd(int rows) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Inference.scatterAdd(this, inputs);
    }
  }

  /** From classes {@code [..]} to {@code [.., depth]}: 1 at the class, else 0. */
  record OneHot(int depth) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      Inference.arity(this, inputs, 1);
      Inference.require(inputs.getFirst().dtype() == DType.I32, this, "I32 classes", inputs);
      return Type.f32(Inference.append(inputs.getFirst().shape(), depth));
    }
  }

  /**
   * Cross-correlation with zero padding: {@code [n, h, w, c] x [kh, kw, c, o] -> [n, h', w', o]}
   * with {@code h' = (h + 2 padding - kh) / stride + 1}.
   */
  record Convolution(int stride, int padding) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Inference.convolution(this, inputs);
    }
  }

  /**
   * The transpose of {@link Convolution} in its image: {@code [n, h', w', o] x [kh, kw, c, o]} to
   * an image of {@code height} by {@code width}.
   */
  record ConvolutionImage(int stride, int padding, int height, int width) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Inference.convolutionImage(this, inputs);
    }
  }

  /**
   * The transpose of {@link Convolution} in its kernel: {@code [n, h, w, c] x [n, h', w', o]} to a
   * kernel of {@code height} by {@code width}.
   */
  record ConvolutionKernel(int stride, int padding, int height, int width) implements Primitive {
    @Override
    public Type infer(List<Type> inputs) {
      return Inference.convolutionKernel(this, inputs);
    }
  }
}
