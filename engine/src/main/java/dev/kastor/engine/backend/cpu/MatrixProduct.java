package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.tensor.Shape;
import java.util.Arrays;
import java.util.List;
import org.bytedeco.dnnl.global.dnnl;
import org.bytedeco.dnnl.matmul;
import org.bytedeco.dnnl.memory;
import org.bytedeco.dnnl.post_ops;
import org.bytedeco.dnnl.primitive_attr;

/** The kernel of a matrix product and of what is done to its elements before they are stored. */
final class MatrixProduct {
  /** A layout with the place that it describes. */
  private record Operand(memory.desc layout, Place place, long offset) {}

  private final OneDnn oneDnn;
  private final Compilation compilation;

  MatrixProduct(OneDnn oneDnn, Compilation compilation) {
    this.oneDnn = oneDnn;
    this.compilation = compilation;
  }

  /**
   * The kernel.
   *
   * @param product the product, without a buffer if there are steps
   * @param result the node that has the result's buffer
   */
  Kernel of(Node product, List<Epilogue.Step> steps, Node result) {
    var op = (Primitive.MatMul) product.op();
    Strided left = compilation.strided(product.input(0));
    Strided right = compilation.strided(product.input(1));
    boolean folded = left.dense() && right.dense();
    Operand a = operand(left, op.transposeLeft(), folded);
    Operand b = operand(right, op.transposeRight(), folded);
    memory.desc c = dense(product.shape(), folded);
    OneDnnKernel kernel = new OneDnnKernel(oneDnn);
    boolean biased = !steps.isEmpty() && steps.getFirst() instanceof Epilogue.Bias;
    primitive_attr attributes =
        attributes(biased ? steps.subList(1, steps.size()) : steps, c, kernel);
    matmul.primitive_desc plan;
    if (biased) {
      Node vector = ((Epilogue.Bias) steps.getFirst()).vector();
      memory.desc bias = row(vector, c);
      plan =
          new matmul.primitive_desc(
              oneDnn.engine(), a.layout, b.layout, bias, c, attributes, false);
      kernel.input(dnnl.DNNL_ARG_BIAS, bias, compilation.place(vector), 0);
    } else {
      plan = new matmul.primitive_desc(oneDnn.engine(), a.layout, b.layout, c, attributes, false);
    }
    return kernel
        .input(dnnl.DNNL_ARG_SRC, a.layout, a.place, a.offset)
        .input(dnnl.DNNL_ARG_WEIGHTS, b.layout, b.place, b.offset)
        .output(dnnl.DNNL_ARG_DST, c, c, compilation.place(result))
        .of(new matmul(plan));
  }

  /** What follows, as oneDNN's post-ops, whose operands are inputs of the kernel. */
  private primitive_attr attributes(
      List<Epilogue.Step> steps, memory.desc result, OneDnnKernel kernel) {
    primitive_attr attributes = OneDnn.deterministic();
    post_ops after = new post_ops();
    for (int i = 0; i < steps.size(); i++) {
      int argument = dnnl.DNNL_ARG_ATTR_MULTIPLE_POST_OP_BASE * (i + 1) | dnnl.DNNL_ARG_SRC_1;
      switch (steps.get(i)) {
        case Epilogue.Scale scale ->
            after.append_eltwise(dnnl.algorithm.eltwise_linear, scale.factor(), 0);
        case Epilogue.Bias bias -> {
          memory.desc layout = row(bias.vector(), result);
          after.append_binary(dnnl.algorithm.binary_add, layout);
          kernel.input(argument, layout, compilation.place(bias.vector()), 0);
        }
        case Epilogue.Residual residual -> {
          after.append_binary(dnnl.algorithm.binary_add, result);
          kernel.input(argument, result, compilation.place(residual.tensor()), 0);
        }
      }
    }
    attributes.set_post_ops(after);
    return attributes;
  }

  /** A vector along the last axis of a result, for each row of it. */
  private static memory.desc row(Node vector, memory.desc result) {
    int rank = result.get_ndims();
    long[] extents = new long[rank];
    long[] strides = new long[rank];
    Arrays.fill(extents, 1);
    extents[rank - 1] = vector.shape().elements();
    Arrays.fill(strides, extents[rank - 1]);
    strides[rank - 1] = 1;
    return OneDnn.dense(extents, strides);
  }

  private Operand operand(Strided view, boolean transposed, boolean folded) {
    Place place = compilation.place(view.base());
    if (folded) {
      return new Operand(described(folded(view.extents()), transposed), place, 0);
    }
    return new Operand(
        described(view.extents(), view.strides(), transposed), place, 4L * view.offset());
  }

  private static memory.desc dense(Shape shape, boolean folded) {
    return described(folded ? folded(shape.extents()) : shape.extents(), false);
  }

  /** At most one leading axis: the leading axes of a dense operand are one. */
  private static int[] folded(int[] extents) {
    int rank = extents.length;
    if (rank <= 3) {
      return extents;
    }
    int batch = 1;
    for (int axis = 0; axis < rank - 2; axis++) {
      batch *= extents[axis];
    }
    return new int[] {batch, extents[rank - 2], extents[rank - 1]};
  }

  private static memory.desc described(int[] extents, boolean transposed) {
    return described(extents, Shape.of(extents).strides(), transposed);
  }

  private static memory.desc described(int[] extents, int[] strides, boolean transposed) {
    int rank = extents.length;
    long[] ours = new long[rank];
    long[] steps = new long[rank];
    for (int axis = 0; axis < rank; axis++) {
      int from = transposed && axis >= rank - 2 ? 2 * rank - 3 - axis : axis;
      ours[axis] = extents[from];
      steps[axis] = strides[from];
    }
    return OneDnn.dense(ours, steps);
  }
}
