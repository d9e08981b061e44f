package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.tensor.Shape;
import org.bytedeco.dnnl.convolution_backward_data;
import org.bytedeco.dnnl.convolution_backward_weights;
import org.bytedeco.dnnl.convolution_forward;
import org.bytedeco.dnnl.global.dnnl;
import org.bytedeco.dnnl.memory;
import org.bytedeco.dnnl.primitive_desc;

/** Kernels for convolutions. */
final class Convolutions {
  private static final int[] IMAGE_TO_NCHW = {0, 3, 1, 2};
  private static final int[] KERNEL_TO_OIHW = {3, 2, 0, 1};

  /** Channels that the widest kernels of oneDNN compute at once. */
  private static final int CHANNEL_BLOCK = 16;

  private final OneDnn oneDnn;

  Convolutions(OneDnn oneDnn) {
    this.oneDnn = oneDnn;
  }

  /** An operand: a place under a shape. */
  record Operand(Place place, Shape shape) {}

  Kernel convolution(Primitive.Convolution op, Operand image, Operand kernel, Operand result) {
    var plan = forward(op.stride(), op.padding(), image.shape, kernel.shape, result.shape);
    skipUnsafe(plan, op.stride(), image.shape);
    return new OneDnnKernel(oneDnn)
        .input(dnnl.DNNL_ARG_SRC, image(image), plan.src_desc(), image.place)
        .input(dnnl.DNNL_ARG_WEIGHTS, kernel(kernel), plan.weights_desc(), kernel.place)
        .output(dnnl.DNNL_ARG_DST, image(result), plan.dst_desc(), result.place)
        .of(new convolution_forward(plan));
  }

  Kernel image(Primitive.ConvolutionImage op, Operand result, Operand kernel, Operand image) {
    var plan =
        new convolution_backward_data.primitive_desc(
            oneDnn.engine(),
            dnnl.algorithm.convolution_direct,
            image(image),
            any(kernel.shape, KERNEL_TO_OIHW),
            image(result),
            both(op.stride()),
            both(op.padding()),
            after(op.stride(), op.padding(), image.shape, kernel.shape, result.shape),
            forward(op.stride(), op.padding(), image.shape, kernel.shape, result.shape),
            OneDnn.deterministic(),
            false);
    skipUnsafe(plan, op.stride(), image.shape);
    return new OneDnnKernel(oneDnn)
        .input(dnnl.DNNL_ARG_DIFF_DST, image(result), plan.diff_dst_desc(), result.place)
        .input(dnnl.DNNL_ARG_WEIGHTS, kernel(kernel), plan.weights_desc(), kernel.place)
        .output(dnnl.DNNL_ARG_DIFF_SRC, image(image), plan.diff_src_desc(), image.place)
        .of(new convolution_backward_data(plan));
  }

  Kernel kernel(Primitive.ConvolutionKernel op, Operand image, Operand result, Operand kernel) {
    var plan =
        new convolution_backward_weights.primitive_desc(
            oneDnn.engine(),
            dnnl.algorithm.convolution_direct,
            image(image),
            any(kernel.shape, KERNEL_TO_OIHW),
            image(result),
            both(op.stride()),
            both(op.padding()),
            after(op.stride(), op.padding(), image.shape, kernel.shape, result.shape),
            forward(op.stride(), op.padding(), image.shape, kernel.shape, result.shape),
            OneDnn.deterministic(),
            false);
    skipUnsafe(plan, op.stride(), image.shape);
    return new OneDnnKernel(oneDnn)
        .input(dnnl.DNNL_ARG_SRC, image(image), plan.src_desc(), image.place)
        .input(dnnl.DNNL_ARG_DIFF_DST, image(result), plan.diff_dst_desc(), result.place)
        .output(dnnl.DNNL_ARG_DIFF_WEIGHTS, kernel(kernel), plan.diff_weights_desc(), kernel.place)
        .of(new convolution_backward_weights(plan));
  }

  /**
   * Moves a plan on from implementations that write beyond their scratchpad: those of oneDNN 3.11
   * for 1x1 kernels with a stride copy the image into a scratchpad that has no room for the end of
   * a block of channels ({@code jit_1x1:avx2}, weights' gradient of 6 channels).
   */
  private static void skipUnsafe(primitive_desc plan, int stride, Shape image) {
    boolean wholeBlocks = image.extent(3) % CHANNEL_BLOCK == 0;
    while (stride > 1 && !wholeBlocks && plan.impl_info_str().getString().startsWith("jit_1x1")) {
      if (!plan.next_impl()) {
        throw new IllegalStateException("oneDNN has one implementation only: " + image);
      }
    }
  }

  private convolution_forward.primitive_desc forward(
      int stride, int padding, Shape image, Shape kernel, Shape result) {
    return new convolution_forward.primitive_desc(
        oneDnn.engine(),
        dnnl.prop_kind.forward_training,
        dnnl.algorithm.convolution_direct,
        permuted(image, IMAGE_TO_NCHW),
        any(kernel, KERNEL_TO_OIHW),
        permuted(result, IMAGE_TO_NCHW),
        both(stride),
        both(padding),
        after(stride, padding, image, kernel, result),
        OneDnn.deterministic(),
        false);
  }

  /** Padding below and right such that the windows fill the padded image exactly. */
  private static long[] after(int stride, int padding, Shape image, Shape kernel, Shape result) {
    return new long[] {
      (result.extent(1) - 1L) * stride + kernel.extent(0) - image.extent(1) - padding,
      (result.extent(2) - 1L) * stride + kernel.extent(1) - image.extent(2) - padding
    };
  }

  private static long[] both(int value) {
    return new long[] {value, value};
  }

  private static memory.desc image(Operand operand) {
    return permuted(operand.shape, IMAGE_TO_NCHW);
  }

  private static memory.desc kernel(Operand operand) {
    return permuted(operand.shape, KERNEL_TO_OIHW);
  }

  /** Our dense layout, described with the axes in oneDNN's order. */
  private static memory.desc permuted(Shape shape, int[] axes) {
    int[] dense = shape.strides();
    long[] extents = new long[axes.length];
    long[] strides = new long[axes.length];
    for (int i = 0; i < axes.length; i++) {
      extents[i] = shape.extent(axes[i]);
      strides[i] = dense[axes[i]];
    }
    return OneDnn.dense(extents, strides);
  }

  private static memory.desc any(Shape shape, int[] axes) {
    long[] extents = new long[axes.length];
    for (int i = 0; i < axes.length; i++) {
      extents[i] = shape.extent(axes[i]);
    }
    return OneDnn.any(extents);
  }
}
