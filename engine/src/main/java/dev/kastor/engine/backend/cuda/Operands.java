package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.backend.cuda.Ptx.Kind;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive.Convolution;
import dev.kastor.engine.graph.Primitive.ConvolutionImage;
import dev.kastor.engine.graph.Primitive.ConvolutionKernel;
import dev.kastor.engine.graph.Primitive.MatMul;
import dev.kastor.engine.tensor.Shape;
import java.util.List;

/**
 * The sides of products: matrices as they are, and what a convolution looks up in an image
 * (implicit GEMM: Chetlur et al., cuDNN, 2014, section 3.1).
 */
final class Operands {
  private final Ptx ptx;
  private final Elements elements;

  private Operands(Ptx ptx, Elements elements) {
    this.ptx = ptx;
    this.elements = elements;
  }

  static Product.Size size(MatMul op, Node node) {
    Shape left = node.input(0).shape();
    Shape out = node.shape();
    int rank = out.rank();
    return new Product.Size(
        out.elements(0, rank - 2),
        out.extent(-2),
        out.extent(-1),
        left.extent(op.transposeLeft() ? -2 : -1));
  }

  static Product.Sides sides(MatMul op, Node node) {
    Product.Size size = size(op, node);
    return (ptx, elements) -> {
      var operands = new Operands(ptx, elements);
      return List.of(
          operands.matrix(node.input(0), size.rows(), size.depth(), !op.transposeLeft()),
          operands.matrix(node.input(1), size.columns(), size.depth(), op.transposeRight()));
    };
  }

  static Product.Size size(Convolution op, Node node) {
    Shape kernel = node.input(1).shape();
    return new Product.Size(
        1, node.shape().elements(0, 3), kernel.extent(3), kernel.elements(0, 3));
  }

  static Product.Sides sides(Convolution op, Node node) {
    Node kernel = node.input(1);
    int outputs = kernel.shape().extent(3);
    var windows =
        new Windows(
            node.shape(),
            node.input(0).shape(),
            kernel.shape().extent(0),
            kernel.shape().extent(1),
            op.stride(),
            op.padding());
    return (ptx, elements) -> {
      var operands = new Operands(ptx, elements);
      return List.of(
          operands.patches(node.input(0), windows),
          operands.matrix(kernel, outputs, kernel.shape().elements(0, 3), false));
    };
  }

  static Product.Size size(ConvolutionImage op, Node node) {
    Shape kernel = node.input(1).shape();
    return new Product.Size(
        1, node.shape().elements(0, 3), kernel.extent(2), kernel.elements(0, 2) * kernel.extent(3));
  }

  static Product.Sides sides(ConvolutionImage op, Node node) {
    Node result = node.input(0);
    Node kernel = node.input(1);
    var windows =
        new Windows(
            result.shape(),
            node.shape(),
            kernel.shape().extent(0),
            kernel.shape().extent(1),
            op.stride(),
            op.padding());
    return (ptx, elements) -> {
      var operands = new Operands(ptx, elements);
      return List.of(operands.covering(result, windows), operands.turned(kernel));
    };
  }

  static Product.Size size(ConvolutionKernel op, Node node) {
    return new Product.Size(
        1,
        node.shape().elements(0, 3),
        node.shape().extent(3),
        node.input(1).shape().elements(0, 3));
  }

  static Product.Sides sides(ConvolutionKernel op, Node node) {
    Node result = node.input(1);
    var windows =
        new Windows(
            result.shape(),
            node.input(0).shape(),
            op.height(),
            op.width(),
            op.stride(),
            op.padding());
    return (ptx, elements) -> {
      var operands = new Operands(ptx, elements);
      return List.of(
          operands.patchesTurned(node.input(0), windows),
          operands.matrix(result, result.shape().extent(3), result.shape().elements(0, 3), false));
    };
  }

  /**
   * How a kernel goes over images.
   *
   * @param result {@code [n, h', w', o]}
   * @param image {@code [n, h, w, c]}
   */
  private record Windows(
      Shape result, Shape image, int height, int width, int stride, int padding) {}

  /** A matrix of each batch, {@code [lines, depth]}, or {@code [depth, lines]} if not rows. */
  private Operand matrix(Node node, int lines, int depth, boolean rows) {
    return new Side(rows) {
      @Override
      public Line line(String batch, String position) {
        String matrix = elements.multiply(batch, lines * depth);
        String start = elements.add(matrix, rows ? elements.multiply(position, depth) : position);
        return (at, inside) ->
            masked(node, elements.add(start, rows ? at : elements.multiply(at, lines)), inside);
      }
    };
  }

  /** Rows: places of the result. Depth: what the kernel covers there, {@code [kh, kw, c]}. */
  private Operand patches(Node image, Windows windows) {
    int channels = windows.image.extent(3);
    return new Side(true) {
      @Override
      public Line line(String batch, String position) {
        Corner corner = corner(position, windows);
        return (at, inside) -> {
          String channel = elements.remainder(at, channels);
          String offset = elements.divide(at, channels);
          return pixel(image, windows, corner, offset, channel, inside);
        };
      }
    };
  }

  /** The same with rows and depth exchanged. */
  private Operand patchesTurned(Node image, Windows windows) {
    int channels = windows.image.extent(3);
    return new Side(false) {
      @Override
      public Line line(String batch, String position) {
        String channel = elements.remainder(position, channels);
        String offset = elements.divide(position, channels);
        return (at, inside) -> pixel(image, windows, corner(at, windows), offset, channel, inside);
      }
    };
  }

  /** The upper left corner of a window, which may lie outside, and the number of its image. */
  private record Corner(String image, String row, String column) {}

  private Corner corner(String place, Windows windows) {
    int width = windows.result.extent(2);
    int height = windows.result.extent(1);
    String column = elements.multiply(elements.remainder(place, width), windows.stride);
    String line = elements.divide(place, width);
    String row = elements.multiply(elements.remainder(line, height), windows.stride);
    return new Corner(elements.divide(line, height), row, column);
  }

  private String pixel(
      Node image, Windows windows, Corner corner, String offset, String channel, String inside) {
    String down = elements.divide(offset, windows.width);
    String right = elements.remainder(offset, windows.width);
    String row = shifted(elements.add(corner.row, down), windows.padding);
    String column = shifted(elements.add(corner.column, right), windows.padding);
    Shape shape = windows.image;
    String there = both(both(inside, row, shape.extent(1)), column, shape.extent(2));
    String line = elements.add(elements.multiply(corner.image, shape.extent(1)), row);
    String place = elements.add(elements.multiply(line, shape.extent(2)), column);
    String index = elements.add(elements.multiply(place, shape.extent(3)), channel);
    return masked(image, index, there);
  }

  /** Rows: pixels of an image. Depth: the windows over each and their results, [kh, kw, o]. */
  private Operand covering(Node result, Windows windows) {
    Shape shape = windows.result;
    int outputs = shape.extent(3);
    return new Side(true) {
      @Override
      public Line line(String batch, String position) {
        int width = windows.image.extent(2);
        int height = windows.image.extent(1);
        String x = elements.remainder(position, width);
        String line = elements.divide(position, width);
        String y = elements.remainder(line, height);
        String image = elements.divide(line, height);
        return (at, inside) -> {
          String output = elements.remainder(at, outputs);
          String offset = elements.divide(at, outputs);
          String down = elements.divide(offset, windows.width);
          String right = elements.remainder(offset, windows.width);
          // Above or left of the image it is far above all as an unsigned number.
          String top = ptx.get(Kind.WORD, "sub.u32", padded(y, windows), down);
          String left = ptx.get(Kind.WORD, "sub.u32", padded(x, windows), right);
          String row = elements.divide(top, windows.stride);
          String column = elements.divide(left, windows.stride);
          String there = both(both(inside, row, shape.extent(1)), column, shape.extent(2));
          there = starts(starts(there, top, windows.stride), left, windows.stride);
          String number = elements.add(elements.multiply(image, shape.extent(1)), row);
          String place = elements.add(elements.multiply(number, shape.extent(2)), column);
          return masked(result, elements.add(elements.multiply(place, outputs), output), there);
        };
      }
    };
  }

  private String padded(String coordinate, Windows windows) {
    return elements.add(coordinate, Integer.toString(windows.padding));
  }

  /** Columns: channels. Depth: {@code [kh, kw, o]} of a kernel {@code [kh, kw, c, o]}. */
  private Operand turned(Node kernel) {
    int channels = kernel.shape().extent(2);
    int outputs = kernel.shape().extent(3);
    return new Side(true) {
      @Override
      public Line line(String batch, String position) {
        String start = elements.multiply(position, outputs);
        return (at, inside) -> {
          String offset = elements.multiply(elements.divide(at, outputs), channels * outputs);
          String output = elements.remainder(at, outputs);
          return masked(kernel, elements.add(offset, elements.add(start, output)), inside);
        };
      }
    };
  }

  private String shifted(String coordinate, int by) {
    return by == 0 ? coordinate : ptx.get(Kind.WORD, "sub.u32", coordinate, by);
  }

  /** Whether something holds, and a coordinate lies below a bound. */
  private String both(String condition, String coordinate, int bound) {
    String below = ptx.get(Kind.TRUTH, "setp.lt.u32", coordinate, bound);
    return ptx.get(Kind.TRUTH, "and.pred", condition, below);
  }

  /** Whether something holds, and windows begin at a coordinate. */
  private String starts(String condition, String coordinate, int stride) {
    if (stride == 1) {
      return condition;
    }
    String rest = elements.remainder(coordinate, stride);
    String none = ptx.get(Kind.TRUTH, "setp.eq.u32", rest, "0");
    return ptx.get(Kind.TRUTH, "and.pred", condition, none);
  }

  private String masked(Node node, String index, String inside) {
    String safe = ptx.get(Kind.WORD, "selp.u32", index, "0", inside);
    return ptx.get(Kind.FLOAT, "selp.f32", elements.at(node, safe), Ptx.literal(0), inside);
  }

  private abstract static class Side implements Operand {
    private final boolean depthFirst;

    Side(boolean depthFirst) {
      this.depthFirst = depthFirst;
    }

    @Override
    public boolean depthFirst() {
      return depthFirst;
    }
  }
}
