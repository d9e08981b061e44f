package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.Normalize;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * Builds layers and remembers, in order, the parameters and statistics they need.
 *
 * <p>One use: make a new one for each graph.
 */
public final class Layers {
  private static final float EPSILON = 1e-5f;

  /** A trained value and the law of its start. */
  record Weight(Node node, Initial initial) {}

  /**
   * A running average.
   *
   * @param running its value at inference
   * @param batch its value in this batch, when training
   * @param initial where it starts
   */
  record Statistic(Node running, Node batch, float initial) {}

  private final boolean training;
  private final List<Weight> weights = new ArrayList<>();
  private final List<Statistic> statistics = new ArrayList<>();

  Layers(boolean training) {
    this.training = training;
  }

  List<Weight> weights() {
    return List.copyOf(weights);
  }

  /** The trained values in the order in which a model has them side by side. */
  List<Node> parameters() {
    return weights.stream().map(Weight::node).toList();
  }

  List<Statistic> statistics() {
    return List.copyOf(statistics);
  }

  /** The values of statistics at inference, in their order. */
  List<Node> running() {
    return statistics.stream().map(Statistic::running).toList();
  }

  /** A trained value. */
  public Node parameter(String label, Shape shape, Initial initial) {
    Node node = Node.parameter(label, shape);
    weights.add(new Weight(node, initial));
    return node;
  }

  /** {@code [.., n]} to {@code [.., outputs]}. */
  public Node dense(String label, Node x, int outputs) {
    int inputs = x.shape().extent(-1);
    Node weight = parameter(label + ".weight", Shape.of(inputs, outputs), Initial.scaled(inputs));
    return x.matMul(weight).add(parameter(label + ".bias", Shape.of(outputs), Initial.ZEROS));
  }

  /** {@code [n, h, w, c]} to {@code [n, h, w, outputs]} with a square kernel of odd side. */
  public Node convolution(String label, Node x, int outputs, int side) {
    return convolution(label, x, outputs, side, 1);
  }

  /** The same at every stride-th place only: {@code [n, h / stride, w / stride, outputs]}. */
  public Node convolution(String label, Node x, int outputs, int side, int stride) {
    int channels = x.shape().extent(3);
    Shape shape = Shape.of(side, side, channels, outputs);
    Node kernel = parameter(label + ".kernel", shape, Initial.scaled(side * side * channels));
    return x.convolve(kernel, stride, side / 2);
  }

  /**
   * Batch normalisation over all but the last axis (Ioffe and Szegedy, ICML 2015, algorithm 1),
   * with the batch's own statistics in training and running averages at inference.
   */
  public Node batchNorm(String label, Node x) {
    int channels = x.shape().extent(-1);
    Node scale = parameter(label + ".scale", Shape.of(channels), Initial.ONES);
    Node shift = parameter(label + ".shift", Shape.of(channels), Initial.ZEROS);
    int last = x.shape().rank() - 1;
    Node mean = x.mean(0, last);
    Node centred = x.subtract(mean);
    Node variance = centred.multiply(centred).mean(0, last);
    Node runningMean = statistic(label + ".mean", mean, 0);
    Node runningVariance = statistic(label + ".variance", variance, 1);
    Node deviation = (training ? variance : runningVariance).add(EPSILON).reciprocalRoot();
    return (training ? centred : x.subtract(runningMean))
        .multiply(scale.multiply(deviation))
        .add(shift);
  }

  private Node statistic(String label, Node batch, float initial) {
    Node running = Node.input(label, Type.f32(batch.shape()));
    statistics.add(new Statistic(running, batch, initial));
    return running;
  }

  /** Layer normalisation over the last axis with a trained scale and shift. */
  public Node layerNorm(String label, Node x) {
    Shape width = Shape.of(x.shape().extent(-1));
    return Node.of(new Normalize(EPSILON), x)
        .multiply(parameter(label + ".scale", width, Initial.ONES))
        .add(parameter(label + ".shift", width, Initial.ZEROS));
  }

  /** A trained row of {@code width} per token: I32 {@code [..]} to {@code [.., width]}. */
  public Node embedding(String label, Node tokens, int rows, int width) {
    return parameter(label, Shape.of(rows, width), Initial.uniform(0.05)).gather(tokens);
  }
}
