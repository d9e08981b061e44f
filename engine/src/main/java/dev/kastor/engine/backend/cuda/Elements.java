package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.backend.cuda.Ptx.Kind;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Primitive.Binary;
import dev.kastor.engine.graph.Primitive.Unary;
import dev.kastor.engine.tensor.Shape;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Instructions for single elements: of a node with a buffer, it is loaded; of any other, it is
 * computed from elements of the node's operands.
 */
final class Elements {
  private static final String LOG2_E = Ptx.literal((float) (1 / Math.log(2)));
  private static final String LN_2 = Ptx.literal((float) Math.log(2));
  private static final String ONE = Ptx.literal(1);
  private static final String ZERO = Ptx.literal(0);

  private final Ptx ptx;
  private final Predicate<Node> buffered;
  private final Map<List<Object>, String> known = new HashMap<>();

  /**
   * For one kernel.
   *
   * @param buffered whether a node has a buffer
   */
  Elements(Ptx ptx, Predicate<Node> buffered) {
    this.ptx = ptx;
    this.buffered = buffered;
  }

  /** Forgets what is in registers, as where a loop begins again. */
  void forget() {
    known.clear();
    ptx.forget();
  }

  /**
   * A register with an element: a float, or a word for integers.
   *
   * @param index a register or literal, in the dense row-major order of the node's shape
   */
  String at(Node node, String index) {
    List<Object> key = List.of(node, index);
    String found = known.get(key);
    if (found == null) {
      found = buffered.test(node) ? load(node, index) : compute(node, index);
      known.put(key, found);
    }
    return found;
  }

  private String load(Node node, String index) {
    String address = "[" + ptx.address(node, index) + "]";
    return node.isFloat()
        ? ptx.get(Kind.FLOAT, "ld.global.f32", address)
        : ptx.get(Kind.WORD, "ld.global.u32", address);
  }

  private String compute(Node node, String index) {
    return switch ((Primitive) node.op()) {
      case Primitive.Constant constant ->
          ptx.pure(Kind.FLOAT, "mov.f32", Ptx.literal(constant.value()));
      case Primitive.Iota iota -> {
        int axis = iota.axis();
        int inner = iota.shape().elements(axis + 1, iota.shape().rank());
        String place = remainder(divide(index, inner), iota.shape().extent(axis));
        yield ptx.pure(Kind.FLOAT, "cvt.rn.f32.u32", place);
      }
      case Unary unary -> unary(unary.kind(), at(node.input(0), index));
      case Binary binary ->
          binary(binary.kind(), at(node.input(0), index), at(node.input(1), index));
      case Primitive.Select _ -> {
        String test = ptx.get(Kind.TRUTH, "setp.neu.f32", at(node.input(0), index), ZERO);
        yield ptx.get(
            Kind.FLOAT, "selp.f32", at(node.input(1), index), at(node.input(2), index), test);
      }
      case Primitive.Reshape _ -> at(node.input(0), index);
      case Primitive.Broadcast _ -> at(node.input(0), broadcast(node, index));
      case Primitive.Permute permute -> at(node.input(0), permuted(permute, node, index));
      case Primitive.Slice slice -> at(node.input(0), sliced(slice, node, index));
      case Primitive.Pad pad -> padded(pad, node, index);
      case Primitive.Gather _ -> gathered(node, index);
      case Primitive.OneHot hot -> {
        String wanted = at(node.input(0), divide(index, hot.depth()));
        String column = remainder(index, hot.depth());
        String test = ptx.get(Kind.TRUTH, "setp.eq.u32", wanted, column);
        yield ptx.get(Kind.FLOAT, "selp.f32", ONE, ZERO, test);
      }
      case Primitive.Input _,
          Primitive.Parameter _,
          Primitive.Reduce _,
          Primitive.MatMul _,
          Primitive.ScatterAdd _,
          Primitive.Convolution _,
          Primitive.ConvolutionImage _,
          Primitive.ConvolutionKernel _ ->
          throw new IllegalStateException(node + " needs a buffer.");
    };
  }

  private String unary(Unary.Kind kind, String x) {
    return switch (kind) {
      case NEGATE -> ptx.get(Kind.FLOAT, "neg.f32", x);
      case EXP -> exponential(x);
      case LOG -> ptx.get(Kind.FLOAT, "mul.rn.f32", ptx.get(Kind.FLOAT, "lg2.approx.f32", x), LN_2);
      case SQRT -> ptx.get(Kind.FLOAT, "sqrt.rn.f32", x);
      case RECIPROCAL_ROOT ->
          ptx.get(Kind.FLOAT, "rcp.rn.f32", ptx.get(Kind.FLOAT, "sqrt.rn.f32", x));
      case TANH -> {
        // 1 - 2 / (exp(2x) + 1): right at both ends, where the exponential is 0 or infinite.
        String power = exponential(ptx.get(Kind.FLOAT, "add.rn.f32", x, x));
        String sum = ptx.get(Kind.FLOAT, "add.rn.f32", power, ONE);
        String part = ptx.get(Kind.FLOAT, "rcp.rn.f32", sum);
        yield ptx.get(Kind.FLOAT, "fma.rn.f32", part, Ptx.literal(-2), ONE);
      }
      case SIGMOID -> {
        String power = exponential(ptx.get(Kind.FLOAT, "neg.f32", x));
        yield ptx.get(Kind.FLOAT, "rcp.rn.f32", ptx.get(Kind.FLOAT, "add.rn.f32", power, ONE));
      }
      case RELU -> {
        // Not the maximum with 0, which hides NaN.
        String negative = ptx.get(Kind.TRUTH, "setp.lt.f32", x, ZERO);
        yield ptx.get(Kind.FLOAT, "selp.f32", ZERO, x, negative);
      }
    };
  }

  private String exponential(String x) {
    return ptx.get(Kind.FLOAT, "ex2.approx.f32", ptx.get(Kind.FLOAT, "mul.rn.f32", x, LOG2_E));
  }

  private String binary(Binary.Kind kind, String a, String b) {
    return switch (kind) {
      case ADD -> ptx.get(Kind.FLOAT, "add.rn.f32", a, b);
      case SUBTRACT -> ptx.get(Kind.FLOAT, "sub.rn.f32", a, b);
      case MULTIPLY -> ptx.get(Kind.FLOAT, "mul.rn.f32", a, b);
      case DIVIDE -> ptx.get(Kind.FLOAT, "div.rn.f32", a, b);
      case MAXIMUM -> maximum(a, b);
      case GREATER ->
          ptx.get(Kind.FLOAT, "selp.f32", ONE, ZERO, ptx.get(Kind.TRUTH, "setp.gt.f32", a, b));
    };
  }

  /** The larger one, or NaN if either is. */
  String maximum(String a, String b) {
    String larger = ptx.get(Kind.FLOAT, "max.f32", a, b);
    String wrong = ptx.get(Kind.TRUTH, "setp.nan.f32", a, b);
    return ptx.get(Kind.FLOAT, "selp.f32", Ptx.literal(Float.NaN), larger, wrong);
  }

  private String broadcast(Node node, String index) {
    Shape from = node.input(0).shape();
    Shape to = node.shape();
    int[] strides = from.strides();
    for (int axis = 0; axis < strides.length; axis++) {
      strides[axis] = from.extent(axis) == 1 ? 0 : strides[axis];
    }
    return sum(to, strides, index);
  }

  private String permuted(Primitive.Permute permute, Node node, String index) {
    int[] from = node.input(0).shape().strides();
    int[] strides = new int[from.length];
    for (int axis = 0; axis < strides.length; axis++) {
      strides[axis] = from[permute.axes().get(axis)];
    }
    return sum(node.shape(), strides, index);
  }

  /**
   * The sum of each coordinate times its stride. Neighbouring axes that are one in both orders are
   * taken apart as one.
   */
  private String sum(Shape shape, int[] strides, String index) {
    String sum = "0";
    int inner = 1;
    int axis = shape.rank() - 1;
    while (axis >= 0) {
      int extent = shape.extent(axis);
      int stride = strides[axis];
      axis--;
      while (axis >= 0 && (shape.extent(axis) == 1 || strides[axis] == stride * extent)) {
        extent *= shape.extent(axis);
        axis--;
      }
      if (extent > 1 && stride != 0) {
        String place = divide(index, inner);
        place = axis < 0 ? place : remainder(place, extent);
        sum = add(multiply(place, stride), sum);
      }
      inner *= extent;
    }
    return sum;
  }

  private String sliced(Primitive.Slice slice, Node node, String index) {
    Shape from = node.input(0).shape();
    int inner = from.elements(slice.axis() + 1, from.rank());
    int kept = slice.to() - slice.from();
    int left = (from.extent(slice.axis()) - kept) * inner;
    String shifted = add(index, Integer.toString(slice.from() * inner));
    return from.elements(0, slice.axis()) == 1
        ? shifted
        : add(multiply(divide(index, kept * inner), left), shifted);
  }

  private String padded(Primitive.Pad pad, Node node, String index) {
    Shape from = node.input(0).shape();
    int inner = from.elements(pad.axis() + 1, from.rank());
    int kept = from.extent(pad.axis()) * inner;
    int whole = node.shape().extent(pad.axis()) * inner;
    boolean alone = from.elements(0, pad.axis()) == 1;
    String within = alone ? index : remainder(index, whole);
    // Below 0 is far above all as an unsigned number.
    String place = ptx.pure(Kind.WORD, "sub.u32", within, pad.before() * inner);
    String inside = ptx.pure(Kind.TRUTH, "setp.lt.u32", place, kept);
    String outer = alone ? "0" : multiply(divide(index, whole), kept);
    String safe = ptx.pure(Kind.WORD, "selp.u32", add(outer, place), "0", inside);
    return ptx.get(Kind.FLOAT, "selp.f32", at(node.input(0), safe), ZERO, inside);
  }

  /** NaN for a row that the table does not have: nothing else is read, and it is seen. */
  private String gathered(Node node, String index) {
    Node table = node.input(0);
    int width = table.shape().extent(1);
    String row = at(node.input(1), divide(index, width));
    String inside = ptx.get(Kind.TRUTH, "setp.lt.u32", row, table.shape().extent(0));
    String safe = ptx.get(Kind.WORD, "selp.u32", row, "0", inside);
    String value = at(table, add(multiply(safe, width), remainder(index, width)));
    return ptx.get(Kind.FLOAT, "selp.f32", value, Ptx.literal(Float.NaN), inside);
  }

  String divide(String index, int by) {
    return by == 1 || index.equals("0") ? index : ptx.pure(Kind.WORD, "div.u32", index, by);
  }

  String remainder(String index, int by) {
    if (by == 1) {
      return "0";
    }
    return index.equals("0") ? index : ptx.pure(Kind.WORD, "rem.u32", index, by);
  }

  String multiply(String index, int by) {
    if (by == 1 || index.equals("0")) {
      return index;
    }
    return ptx.pure(Kind.WORD, "mul.lo.u32", index, by);
  }

  String add(String one, String other) {
    if (one.equals("0")) {
      return other;
    }
    return other.equals("0") ? one : ptx.pure(Kind.WORD, "add.u32", one, other);
  }
}
