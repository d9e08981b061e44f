package dev.kastor.engine.graph;

import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.util.Arrays;
import java.util.List;

/** The shape rules of the primitives. */
final class Inference {
  private Inference() {}

  static void require(boolean fits, Op op, String rule, List<Type> inputs) {
    if (!fits) {
      throw new ShapeException(op, rule, inputs);
    }
  }

  static void arity(Op op, List<Type> inputs, int count) {
    require(inputs.size() == count, op, count + " inputs", inputs);
  }

  private static Shape floats(Op op, List<Type> inputs, int index) {
    require(inputs.get(index).dtype() == DType.F32, op, "F32 as input " + index, inputs);
    return inputs.get(index).shape();
  }

  static Shape append(Shape shape, int extent) {
    int[] extents = Arrays.copyOf(shape.extents(), shape.rank() + 1);
    extents[shape.rank()] = extent;
    return Shape.of(extents);
  }

  static Type elementwise(Op op, List<Type> inputs, int count) {
    arity(op, inputs, count);
    Shape shape = floats(op, inputs, 0);
    for (int i = 1; i < count; i++) {
      require(floats(op, inputs, i).equals(shape), op, "inputs of one shape", inputs);
    }
    return Type.f32(shape);
  }

  static Type broadcast(Primitive.Broadcast op, List<Type> inputs) {
    arity(op, inputs, 1);
    Shape from = floats(op, inputs, 0);
    Shape to = op.shape();
    boolean fits = from.rank() == to.rank();
    for (int axis = 0; fits && axis < to.rank(); axis++) {
      fits = from.extent(axis) == 1 || from.extent(axis) == to.extent(axis);
    }
    require(fits, op, "extents of 1 or those of " + to, inputs);
    return Type.f32(to);
  }

  static Type reduce(Primitive.Reduce op, List<Type> inputs) {
    arity(op, inputs, 1);
    int[] extents = floats(op, inputs, 0).extents();
    boolean fits = 0 <= op.from() && op.from() < op.to() && op.to() <= extents.length;
    require(fits, op, "axes [%d, %d) within the rank".formatted(op.from(), op.to()), inputs);
    int[] kept = new int[extents.length - op.to() + op.from()];
    System.arraycopy(extents, 0, kept, 0, op.from());
    System.arraycopy(extents, op.to(), kept, op.from(), extents.length - op.to());
    return Type.f32(Shape.of(kept));
  }

  static Type reshape(Primitive.Reshape op, List<Type> inputs) {
    arity(op, inputs, 1);
    Type from = inputs.getFirst();
    boolean fits = from.shape().elements() == op.shape().elements();
    require(fits, op, "as many elements as " + op.shape(), inputs);
    return new Type(op.shape(), from.dtype());
  }

  static Type permute(Primitive.Permute op, List<Type> inputs) {
    arity(op, inputs, 1);
    Shape from = inputs.getFirst().shape();
    int[] seen = new int[from.rank()];
    boolean fits = op.axes().size() == from.rank();
    int[] extents = new int[from.rank()];
    for (int i = 0; fits && i < extents.length; i++) {
      int axis = op.axes().get(i);
      fits = 0 <= axis && axis < seen.length && seen[axis]++ == 0;
      extents[i] = fits ? from.extent(axis) : 1;
    }
    require(fits, op, "a permutation of its axes as " + op.axes(), inputs);
    return new Type(Shape.of(extents), inputs.getFirst().dtype());
  }

  static Type slice(Primitive.Slice op, List<Type> inputs) {
    arity(op, inputs, 1);
    Shape from = inputs.getFirst().shape();
    boolean fits =
        0 <= op.axis()
            && op.axis() < from.rank()
            && 0 <= op.from()
            && op.from() < op.to()
            && op.to() <= from.extent(op.axis());
    require(fits, op, "[%d, %d) within axis %d".formatted(op.from(), op.to(), op.axis()), inputs);
    return new Type(from.with(op.axis(), op.to() - op.from()), inputs.getFirst().dtype());
  }

  static Type pad(Primitive.Pad op, List<Type> inputs) {
    arity(op, inputs, 1);
    Shape from = floats(op, inputs, 0);
    boolean fits = 0 <= op.axis() && op.axis() < from.rank() && op.before() >= 0 && op.after() >= 0;
    require(fits, op, "an axis %d and padding of 0 or more".formatted(op.axis()), inputs);
    return Type.f32(from.with(op.axis(), op.before() + from.extent(op.axis()) + op.after()));
  }

  static Type matMul(Primitive.MatMul op, List<Type> inputs) {
    arity(op, inputs, 2);
    Shape left = floats(op, inputs, 0);
    Shape right = floats(op, inputs, 1);
    int rank = left.rank();
    boolean fits = rank >= 2 && right.rank() == rank;
    for (int axis = 0; fits && axis < rank - 2; axis++) {
      fits = left.extent(axis) == right.extent(axis);
    }
    fits =
        fits
            && left.extent(op.transposeLeft() ? -2 : -1)
                == right.extent(op.transposeRight() ? -1 : -2);
    require(fits, op, "[.., m, k] and [.., k, n], transposed as " + op, inputs);
    // Both at once: a shape with one of them alone may have more elements than a tensor can.
    int[] extents = left.extents();
    extents[rank - 2] = left.extent(op.transposeLeft() ? -1 : -2);
    extents[rank - 1] = right.extent(op.transposeRight() ? -2 : -1);
    return Type.f32(Shape.of(extents));
  }

  static Type gather(Primitive.Gather op, List<Type> inputs) {
    arity(op, inputs, 2);
    Shape table = floats(op, inputs, 0);
    boolean fits = table.rank() == 2 && inputs.get(1).dtype() == DType.I32;
    require(fits, op, "a table [rows, width] and I32 row numbers", inputs);
    return Type.f32(append(inputs.get(1).shape(), table.extent(1)));
  }

  static Type scatterAdd(Primitive.ScatterAdd op, List<Type> inputs) {
    arity(op, inputs, 2);
    Shape values = floats(op, inputs, 0);
    Type rows = inputs.get(1);
    boolean fits =
        rows.dtype() == DType.I32
            && values.rank() > 0
            && append(rows.shape(), values.extent(-1)).equals(values);
    require(fits, op, "values [.., width] and I32 row numbers [..]", inputs);
    return Type.f32(op.rows(), values.extent(-1));
  }

  static Type convolution(Primitive.Convolution op, List<Type> inputs) {
    arity(op, inputs, 2);
    Shape image = floats(op, inputs, 0);
    Shape kernel = floats(op, inputs, 1);
    boolean fits =
        image.rank() == 4
            && kernel.rank() == 4
            && image.extent(3) == kernel.extent(2)
            && image.extent(1) + 2 * op.padding() >= kernel.extent(0)
            && image.extent(2) + 2 * op.padding() >= kernel.extent(1);
    require(fits, op, "an image [n, h, w, c] and a kernel [kh, kw, c, o] within it", inputs);
    return Type.f32(
        image.extent(0),
        windows(image.extent(1), kernel.extent(0), op.stride(), op.padding()),
        windows(image.extent(2), kernel.extent(1), op.stride(), op.padding()),
        kernel.extent(3));
  }

  static Type convolutionImage(Primitive.ConvolutionImage op, List<Type> inputs) {
    arity(op, inputs, 2);
    Shape result = floats(op, inputs, 0);
    Shape kernel = floats(op, inputs, 1);
    boolean fits =
        result.rank() == 4
            && kernel.rank() == 4
            && result.extent(3) == kernel.extent(3)
            && result.extent(1) == windows(op.height(), kernel.extent(0), op.stride(), op.padding())
            && result.extent(2) == windows(op.width(), kernel.extent(1), op.stride(), op.padding());
    require(fits, op, "[n, h', w', o] and a kernel [kh, kw, c, o] that gave it", inputs);
    return Type.f32(result.extent(0), op.height(), op.width(), kernel.extent(2));
  }

  static Type convolutionKernel(Primitive.ConvolutionKernel op, List<Type> inputs) {
    arity(op, inputs, 2);
    Shape image = floats(op, inputs, 0);
    Shape result = floats(op, inputs, 1);
    boolean fits =
        image.rank() == 4
            && result.rank() == 4
            && image.extent(0) == result.extent(0)
            && result.extent(1) == windows(image.extent(1), op.height(), op.stride(), op.padding())
            && result.extent(2) == windows(image.extent(2), op.width(), op.stride(), op.padding());
    require(fits, op, "an image [n, h, w, c] and the [n, h', w', o] it gave", inputs);
    return Type.f32(op.height(), op.width(), image.extent(3), result.extent(3));
  }

  private static int windows(int extent, int kernel, int stride, int padding) {
    return (extent + 2 * padding - kernel) / stride + 1;
  }
}
