package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive.Convolution;
import dev.kastor.engine.graph.Primitive.ConvolutionImage;
import dev.kastor.engine.graph.Primitive.ConvolutionKernel;
import dev.kastor.engine.tensor.Shape;
import org.jspecify.annotations.Nullable;

/**
 * A cross-correlation with zero padding, or one of its gradients, with the filters first: {@code
 * [n, h, w, c] x [o, kh, kw, c] -> [n, h', w', o]}. In this order of axes cuDNN takes filters of
 * images whose channels are last (cudnnSetFilter4dDescriptor, CUDNN_TENSOR_NHWC).
 *
 * @param wanted which of the three is computed from the other two
 * @param image {@code [n, h, w, c]}
 * @param filter {@code [o, kh, kw, c]}
 * @param result {@code [n, h', w', o]}
 */
record Correlation(
    Wanted wanted, Shape image, Shape filter, Shape result, int stride, int padding) {
  /** What is computed. */
  enum Wanted {
    /** The result, from image and filter. */
    RESULT,
    /** The gradient of the image, from the filter and the gradient of the result. */
    IMAGE,
    /** The gradient of the filter, from the image and the gradient of the result. */
    FILTER
  }

  /** What a node is; null if it is no convolution, or one that is a product of matrices. */
  static @Nullable Correlation of(Node node) {
    if (Gemm.of(node) != null) {
      return null;
    }
    return switch (node.op()) {
      case Convolution op ->
          new Correlation(
              Wanted.RESULT,
              node.input(0).shape(),
              filtersFirst(node.input(1).shape()),
              node.shape(),
              op.stride(),
              op.padding());
      case ConvolutionImage op ->
          new Correlation(
              Wanted.IMAGE,
              node.shape(),
              filtersFirst(node.input(1).shape()),
              node.input(0).shape(),
              op.stride(),
              op.padding());
      case ConvolutionKernel op ->
          new Correlation(
              Wanted.FILTER,
              node.input(0).shape(),
              filtersFirst(node.shape()),
              node.input(1).shape(),
              op.stride(),
              op.padding());
      default -> null; // No convolution.
    };
  }

  /** Of a kernel {@code [kh, kw, c, o]}. */
  private static Shape filtersFirst(Shape kernel) {
    return Shape.of(kernel.extent(3), kernel.extent(0), kernel.extent(1), kernel.extent(2));
  }
}
