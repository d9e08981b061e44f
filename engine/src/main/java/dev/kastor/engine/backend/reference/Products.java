package dev.kastor.engine.backend.reference;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.tensor.Shape;

/** Ops that sum products. */
final class Products {
  private Products() {}

  static double[] matMul(Primitive.MatMul op, Node node, double[] a, double[] b) {
    int m = node.shape().extent(-2);
    int n = node.shape().extent(-1);
    int k = node.input(0).shape().extent(op.transposeLeft() ? -2 : -1);
    double[] out = new double[node.shape().elements()];
    for (int i = 0; i < out.length; i++) {
      int batch = i / (m * n);
      int row = i / n % m;
      int column = i % n;
      double sum = 0;
      for (int p = 0; p < k; p++) {
        int left = op.transposeLeft() ? p * m + row : row * k + p;
        int right = op.transposeRight() ? column * k + p : p * n + column;
        sum += a[batch * m * k + left] * b[batch * k * n + right];
      }
      out[i] = sum;
    }
    return out;
  }

  static double[] convolution(
      Primitive.Convolution op, Node node, double[] image, double[] kernel) {
    double[] out = new double[node.shape().elements()];
    visit(
        node.input(0).shape(),
        node.input(1).shape(),
        node.shape(),
        op.stride(),
        op.padding(),
        (i, k, o) -> out[o] += image[i] * kernel[k]);
    return out;
  }

  static double[] image(
      Primitive.ConvolutionImage op, Node node, double[] result, double[] kernel) {
    double[] out = new double[node.shape().elements()];
    visit(
        node.shape(),
        node.input(1).shape(),
        node.input(0).shape(),
        op.stride(),
        op.padding(),
        (i, k, o) -> out[i] += result[o] * kernel[k]);
    return out;
  }

  static double[] kernel(
      Primitive.ConvolutionKernel op, Node node, double[] image, double[] result) {
    double[] out = new double[node.shape().elements()];
    visit(
        node.input(0).shape(),
        node.shape(),
        node.input(1).shape(),
        op.stride(),
        op.padding(),
        (i, k, o) -> out[k] += image[i] * result[o]);
    return out;
  }

  private interface Term {
    void add(int image, int kernel, int result);
  }

  /** Visits the terms of a convolution, each as flat indices of image, kernel and result. */
  private static void visit(
      Shape image, Shape kernel, Shape result, int stride, int padding, Term term) {
    int channels = image.extent(3);
    int outputs = result.extent(3);
    for (int cell = 0; cell < result.elements(0, 3); cell++) {
      int n = cell / (result.extent(1) * result.extent(2));
      int top = cell / result.extent(2) % result.extent(1) * stride - padding;
      int left = cell % result.extent(2) * stride - padding;
      for (int tap = 0; tap < kernel.elements(0, 2); tap++) {
        int y = top + tap / kernel.extent(1);
        int x = left + tap % kernel.extent(1);
        if (y < 0 || y >= image.extent(1) || x < 0 || x >= image.extent(2)) {
          continue;
        }
        int pixel = ((n * image.extent(1) + y) * image.extent(2) + x) * channels;
        for (int c = 0; c < channels; c++) {
          for (int o = 0; o < outputs; o++) {
            term.add(pixel + c, (tap * channels + c) * outputs + o, cell * outputs + o);
          }
        }
      }
    }
  }
}
