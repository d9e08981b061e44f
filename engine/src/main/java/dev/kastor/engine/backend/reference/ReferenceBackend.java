package dev.kastor.engine.backend.reference;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import java.lang.foreign.SegmentAllocator;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Computes graphs with plain loops in double precision; integers are exact in it.
 *
 * <p>Thread-safe; allocates for each node of each run.
 */
public final class ReferenceBackend implements Backend {
  @Override
  public String name() {
    return "reference";
  }

  @Override
  public Executable compile(Graph graph, SegmentAllocator memory) {
    return new ReferenceExecutable(graph, memory);
  }

  /** The outputs of a graph, unrounded; {@code leaves} holds the value of each leaf. */
  public List<double[]> evaluate(Graph graph, Map<Node, double[]> leaves) {
    return Interpreter.evaluate(graph, leaves);
  }

  static double[] compute(Primitive primitive, Node node, double[][] in) {
    return switch (primitive) {
      case Primitive.Input _, Primitive.Parameter _ ->
          throw new IllegalArgumentException("No value was given for " + node + ".");
      case Primitive.Constant constant -> new double[] {constant.value()};
      case Primitive.Iota iota -> Movement.iota(iota);
      case Primitive.Unary unary -> Arrays.stream(in[0]).map(x -> apply(unary.kind(), x)).toArray();
      case Primitive.Binary binary -> binary(binary.kind(), in[0], in[1]);
      case Primitive.Select _ -> select(in[0], in[1], in[2]);
      case Primitive.Broadcast _ -> Movement.broadcast(node, in[0]);
      case Primitive.Reduce reduce -> reduce(reduce, node, in[0]);
      case Primitive.Reshape _ -> in[0];
      case Primitive.Permute permute -> Movement.permute(permute, node, in[0]);
      case Primitive.Slice slice -> Movement.slice(slice, node, in[0]);
      case Primitive.Pad pad -> Movement.pad(pad, node, in[0]);
      case Primitive.MatMul matMul -> Products.matMul(matMul, node, in[0], in[1]);
      case Primitive.Gather _ -> Movement.gather(node, in[0], in[1]);
      case Primitive.ScatterAdd _ -> Movement.scatterAdd(node, in[0], in[1]);
      case Primitive.OneHot oneHot -> Movement.oneHot(oneHot, in[0]);
      case Primitive.Convolution op -> Products.convolution(op, node, in[0], in[1]);
      case Primitive.ConvolutionImage op -> Products.image(op, node, in[0], in[1]);
      case Primitive.ConvolutionKernel op -> Products.kernel(op, node, in[0], in[1]);
    };
  }

  private static double apply(Primitive.Unary.Kind kind, double x) {
    return switch (kind) {
      case NEGATE -> -x;
      case EXP -> Math.exp(x);
      case LOG -> Math.log(x);
      case SQRT -> Math.sqrt(x);
      case RECIPROCAL_ROOT -> 1 / Math.sqrt(x);
      case TANH -> Math.tanh(x);
      case SIGMOID -> 1 / (1 + Math.exp(-x));
      case RELU -> Math.max(x, 0);
    };
  }

  private static double[] binary(Primitive.Binary.Kind kind, double[] a, double[] b) {
    double[] out = new double[a.length];
    for (int i = 0; i < out.length; i++) {
      out[i] =
          switch (kind) {
            case ADD -> a[i] + b[i];
            case SUBTRACT -> a[i] - b[i];
            case MULTIPLY -> a[i] * b[i];
            case DIVIDE -> a[i] / b[i];
            case MAXIMUM -> Math.max(a[i], b[i]);
            case GREATER -> a[i] > b[i] ? 1 : 0;
          };
    }
    return out;
  }

  private static double[] select(double[] condition, double[] yes, double[] no) {
    double[] out = new double[condition.length];
    for (int i = 0; i < out.length; i++) {
      out[i] = condition[i] != 0 ? yes[i] : no[i];
    }
    return out;
  }

  private static double[] reduce(Primitive.Reduce op, Node node, double[] in) {
    var shape = node.input(0).shape();
    int folded = shape.elements(op.from(), op.to());
    int inner = shape.elements(op.to(), shape.rank());
    double[] out = new double[node.shape().elements()];
    for (int i = 0; i < out.length; i++) {
      int first = i / inner * folded * inner + i % inner;
      double value = in[first];
      for (int j = 1; j < folded; j++) {
        double next = in[first + j * inner];
        value =
            switch (op.kind()) {
              case SUM -> value + next;
              case MAXIMUM -> Math.max(value, next);
            };
      }
      out[i] = value;
    }
    return out;
  }
}
