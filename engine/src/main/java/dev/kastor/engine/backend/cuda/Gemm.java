package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive.Convolution;
import dev.kastor.engine.graph.Primitive.ConvolutionImage;
import dev.kastor.engine.graph.Primitive.ConvolutionKernel;
import dev.kastor.engine.graph.Primitive.MatMul;
import dev.kastor.engine.tensor.Shape;
import org.jspecify.annotations.Nullable;

/**
 * A product of dense matrices in row-major order, {@code [batch, rows, depth]} by {@code [batch,
 * depth, columns]}.
 *
 * @param transposeLeft whether the left side lies as {@code [batch, depth, rows]}
 * @param transposeRight whether the right side lies as {@code [batch, columns, depth]}
 */
record Gemm(Product.Size size, boolean transposeLeft, boolean transposeRight) {
  /** What a node is whose inputs are the sides as they lie; null if it is no such product. */
  static @Nullable Gemm of(Node node) {
    return switch (node.op()) {
      case MatMul op -> new Gemm(Operands.size(op, node), op.transposeLeft(), op.transposeRight());
      // A window of one pixel: the image is a matrix of pixels by channels.
      case Convolution op when one(op.stride(), op.padding(), node.input(1).shape()) ->
          new Gemm(Operands.size(op, node), false, false);
      case ConvolutionImage op when one(op.stride(), op.padding(), node.input(1).shape()) ->
          new Gemm(Operands.size(op, node), false, true);
      case ConvolutionKernel op when one(op.stride(), op.padding(), node.shape()) ->
          new Gemm(Operands.size(op, node), true, false);
      default -> null; // Something else, or a convolution that looks around.
    };
  }

  private static boolean one(int stride, int padding, Shape kernel) {
    return stride == 1 && padding == 0 && kernel.elements(0, 2) == 1;
  }
}
