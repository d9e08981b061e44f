package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Control;
import dev.kastor.engine.graph.Effect;
import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.op.MaxPool;
import dev.kastor.engine.op.MaxPoolGradient;
import dev.kastor.engine.op.Normalize;
import dev.kastor.engine.op.NormalizeGradient;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.op.RecurrentGradient;
import dev.kastor.engine.op.RowAt;
import dev.kastor.engine.op.Softmax;
import dev.kastor.engine.op.SoftmaxCrossEntropy;
import dev.kastor.engine.op.SoftmaxCrossEntropyGradient;
import dev.kastor.engine.op.SoftmaxGradient;
import java.util.List;

/** The kernel of each op: the one table of this backend. */
final class Kernels {
  private final Compilation compilation;
  private final Convolutions convolutions;
  private final OneDnn oneDnn;

  Kernels(OneDnn oneDnn, Compilation compilation) {
    this.oneDnn = oneDnn;
    this.compilation = compilation;
    this.convolutions = new Convolutions(oneDnn);
  }

  /** Whether there is a kernel for a fused op; the others are decomposed. */
  static boolean knows(Fused op) {
    return op instanceof Softmax
        || op instanceof SoftmaxGradient
        || op instanceof SoftmaxCrossEntropy
        || op instanceof SoftmaxCrossEntropyGradient
        || op instanceof Normalize
        || op instanceof NormalizeGradient
        || op instanceof Recurrent
        || op instanceof RecurrentGradient
        || op instanceof RowAt
        || op instanceof MaxPool
        || op instanceof MaxPoolGradient;
  }

  Kernel of(Node node) {
    Join join = compilation.join(node);
    if (join != null) {
      return join.kernel(compilation, node, place(node));
    }
    Epilogue epilogue = compilation.epilogue(node);
    if (epilogue != null) {
      return product(epilogue.product(), epilogue.steps(), node);
    }
    return switch (node.op()) {
      case Primitive primitive -> of(primitive, node);
      case Fused fused -> of(fused, node);
      case Effect _, Control _ ->
          throw new IllegalArgumentException(node + " needs an executor: it is no pure op.");
    };
  }

  private Kernel of(Fused fused, Node node) {
    Place out = place(node);
    Place first = place(node.input(0));
    return switch (fused) {
      case Softmax op -> Rows.softmax(oneDnn.team(), op, node.shape(), first, out);
      case SoftmaxGradient _ ->
          Rows.softmaxGradient(oneDnn.team(), node.shape(), first, place(node.input(1)), out);
      case SoftmaxCrossEntropy _ ->
          Rows.crossEntropy(oneDnn.team(), node.input(0).shape(), first, place(node.input(1)), out);
      case SoftmaxCrossEntropyGradient _ ->
          Rows.crossEntropyGradient(
              oneDnn.team(), node.shape(), first, place(node.input(1)), place(node.input(2)), out);
      case Normalize op -> Rows.normalize(oneDnn.team(), op.epsilon(), node.shape(), first, out);
      case NormalizeGradient op ->
          Rows.normalizeGradient(
              oneDnn.team(),
              op.epsilon(),
              node.shape(),
              first,
              place(node.input(1)),
              place(node.input(2)),
              out);
      case Recurrent op ->
          BatchParts.of(
              oneDnn,
              node.shape().extent(1),
              (from, to) ->
                  new Recurrence(
                      oneDnn,
                      op.cell(),
                      node.shape(),
                      first,
                      place(node.input(1)),
                      place(node.input(2)),
                      out,
                      from,
                      to));
      case RecurrentGradient op -> {
        Node given = node.input(2);
        Place gradient = place(compilation.inlined(given) ? given.input(0) : given);
        yield BatchParts.of(
            oneDnn,
            node.shape().extent(1),
            (from, to) ->
                new RecurrenceGradient(
                    oneDnn,
                    op.cell(),
                    node.input(0).shape(),
                    first,
                    place(node.input(1)),
                    gradient,
                    out,
                    from,
                    to));
      }
      case RowAt _ -> Movement.rowAt(node, first, place(node.input(1)), out);
      case MaxPool op -> Pooling.maximum(oneDnn.team(), op.size(), node.shape(), first, out);
      case MaxPoolGradient op ->
          Pooling.gradient(
              oneDnn.team(),
              op.size(),
              node.input(1).shape(),
              first,
              place(node.input(1)),
              place(node.input(2)),
              out);
      default -> throw new IllegalStateException(node + " was not lowered.");
    };
  }

  private Kernel of(Primitive primitive, Node node) {
    Place out = place(node);
    return switch (primitive) {
      case Primitive.Input _, Primitive.Parameter _, Primitive.Reshape _ ->
          throw new IllegalStateException(node + " is no step.");
      case Primitive.Constant _,
          Primitive.Unary _,
          Primitive.Binary _,
          Primitive.Select _,
          Primitive.Broadcast _ ->
          Elementwise.store(compilation, node, out);
      case Primitive.Permute permute ->
          node.isFloat()
              ? Elementwise.store(compilation, node, out)
              : Movement.permute(permute, node, place(node.input(0)), out);
      case Primitive.Slice slice ->
          node.isFloat()
              ? Elementwise.store(compilation, node, out)
              : Movement.slice(oneDnn.team(), slice, node, place(node.input(0)), out);
      case Primitive.Reduce reduce -> Reduction.of(compilation, reduce, node, out);
      case Primitive.Iota iota -> Movement.iota(iota, out);
      case Primitive.Pad pad -> Movement.pad(oneDnn.team(), pad, node, place(node.input(0)), out);
      case Primitive.Gather _ ->
          Movement.gather(oneDnn.team(), node, place(node.input(0)), rows(node), out);
      case Primitive.ScatterAdd _ ->
          Movement.scatterAdd(oneDnn.team(), node, place(node.input(0)), rows(node), out);
      case Primitive.OneHot _ -> Movement.oneHot(node, place(node.input(0)), out);
      case Primitive.MatMul _ -> product(node, List.of(), node);
      case Primitive.Convolution op ->
          convolutions.convolution(
              op, operand(node.input(0)), operand(node.input(1)), operand(node));
      case Primitive.ConvolutionImage op ->
          convolutions.image(op, operand(node.input(0)), operand(node.input(1)), operand(node));
      case Primitive.ConvolutionKernel op ->
          convolutions.kernel(op, operand(node.input(0)), operand(node.input(1)), operand(node));
    };
  }

  private Kernel product(Node product, List<Epilogue.Step> steps, Node result) {
    return new MatrixProduct(oneDnn, compilation).of(product, steps, result);
  }

  private Place rows(Node node) {
    return place(node.input(1));
  }

  private Convolutions.Operand operand(Node node) {
    return new Convolutions.Operand(place(node), node.shape());
  }

  private Place place(Node node) {
    return compilation.place(node);
  }
}
