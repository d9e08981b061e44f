package dev.kastor.engine.nn;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.DeviceVector;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.Residence;
import dev.kastor.engine.exec.GraphExecutor;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.graph.pass.GraphPass;
import dev.kastor.engine.graph.pass.PassPipeline;
import dev.kastor.engine.op.SoftmaxCrossEntropy;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Pass of a network over one number of examples, for training or for inference, whose graph is run
 * by one session, or by one that spans several devices.
 *
 * <p>Outputs: in training the mean loss, in inference the loss of each position and the logits.
 */
final class Pass implements AutoCloseable {
  private final Executable executable;
  private final Tensor features;
  private final Tensor targets;
  private final PlacedVector vector;

  /** Where the parameters are copied to in each pass; none if the device keeps them. */
  private final List<Tensor> parameters;

  private final List<Tensor> statistics;
  private final int[] tokens;

  private final Layout layout;

  /** Outputs that are gradients, from 1 on. */
  private final int gradients;

  private Pass(
      Executable executable,
      PlacedVector vector,
      Node features,
      Node targets,
      List<Node> weights,
      List<Node> running,
      int gradients) {
    this.executable = executable;
    this.vector = vector;
    this.features = executable.input(features);
    this.targets = executable.input(targets);
    this.parameters =
        vector.device() == null ? weights.stream().map(executable::input).toList() : List.of();
    this.statistics = running.stream().map(executable::input).toList();
    this.tokens = new int[features.isFloat() ? 0 : features.shape().elements()];
    this.layout = Forward.layout(weights);
    this.gradients = gradients;
  }

  /**
   * Outputs: mean loss, the gradients of the parameters, the last one first as they are found, the
   * batch's value of each statistic.
   *
   * @param vector of the parameters
   * @param gradient of the device, where that has the parameters
   */
  static Pass training(
      Network network,
      GraphExecutor executor,
      PassPipeline passes,
      int examples,
      PlacedVector vector,
      @Nullable DeviceVector gradient) {
    Layers layers = new Layers(true);
    Node features = Forward.features(network, examples);
    Node targets = targets(network, examples);
    Node losses = losses(network.logits(layers, features), targets);
    List<Node> wanted = new ArrayList<>();
    wanted.add(losses.mean(0, 1));
    layers.statistics().forEach(statistic -> wanted.add(statistic.batch()));
    List<Node> results =
        executor.place(passes.apply(GraphPass.Stage.BEFORE_GRADIENTS, wanted, executor::pays));
    Node loss = results.getFirst();
    List<Node> weights = layers.parameters();
    List<Node> outputs = new ArrayList<>();
    outputs.add(loss);
    outputs.addAll(Gradients.of(loss, weights).reversed());
    outputs.addAll(results.subList(1, results.size()));
    Map<Integer, DeviceVector.Place> places = new HashMap<>();
    if (gradient != null) {
      for (int i = 0; i < weights.size(); i++) {
        places.put(weights.size() - i, gradient.tensor(i));
      }
    }
    Residence residence = new Residence(leaves(vector, weights), places);
    Executable executable = compile(outputs, executor, passes, residence);
    return over(executable, vector, features, targets, weights, List.of(), weights.size());
  }

  /**
   * Outputs: the loss of each position, the logits.
   *
   * @param vector of the parameters
   */
  static Pass inference(
      Network network,
      GraphExecutor executor,
      PassPipeline passes,
      int examples,
      PlacedVector vector) {
    Forward forward = Forward.of(network, examples);
    Node targets = targets(network, examples);
    List<Node> wanted = List.of(losses(forward.logits(), targets), forward.logits());
    List<Node> results =
        executor.place(passes.apply(GraphPass.Stage.BEFORE_GRADIENTS, wanted, executor::pays));
    Residence residence = new Residence(leaves(vector, forward.parameters()), Map.of());
    Executable executable = compile(results, executor, passes, residence);
    return over(
        executable,
        vector,
        forward.features(),
        targets,
        forward.parameters(),
        forward.statistics(),
        0);
  }

  /** A pass that owns its executable, which is closed where there is no room for its inputs. */
  private static Pass over(
      Executable executable,
      PlacedVector vector,
      Node features,
      Node targets,
      List<Node> weights,
      List<Node> running,
      int gradients) {
    try {
      return new Pass(executable, vector, features, targets, weights, running, gradients);
    } catch (RuntimeException | Error e) {
      executable.close();
      throw e;
    }
  }

  private static Map<Node, DeviceVector.Place> leaves(PlacedVector vector, List<Node> weights) {
    Map<Node, DeviceVector.Place> places = new HashMap<>();
    DeviceVector device = vector.device();
    if (device != null) {
      for (int i = 0; i < weights.size(); i++) {
        places.put(weights.get(i), device.tensor(i));
      }
    }
    return places;
  }

  private static Executable compile(
      List<Node> results, GraphExecutor executor, PassPipeline passes, Residence residence) {
    return executor.compile(
        new Graph(passes.apply(GraphPass.Stage.BEFORE_COMPILATION, results, executor::pays)),
        residence);
  }

  private static Node targets(Network network, int examples) {
    Shape shape = Shape.of(examples * network.positions());
    return Node.input("targets", new Type(shape, DType.I32));
  }

  private static Node losses(Node logits, Node targets) {
    return Node.of(new SoftmaxCrossEntropy(), logits, targets);
  }

  /** Runs it where nobody wants the gradient on the host. */
  void run(Batch batch, float[] flatStatistics) {
    write(batch, flatStatistics);
    executable.run(output -> output == 0 || output > gradients, _ -> {});
  }

  /**
   * Runs it for training.
   *
   * @param flatStatistics running ones
   * @param gradient receives the gradients of the parameters side by side
   * @param end of the elements that are wanted: those from there on are left as they are, as an
   *     earlier run that failed has told of them
   * @param ready told from which element on the gradient is there, again and again, down to 0
   */
  void run(Batch batch, float[] flatStatistics, float[] gradient, int end, IntConsumer ready) {
    write(batch, flatStatistics);
    int wanted = (int) layout.entries().stream().filter(entry -> entry.offset() < end).count();
    boolean[] there = new boolean[wanted];
    int[] missing = {wanted};
    executable.run(output -> {
      int parameter = gradients - output;
      if (output == 0 || parameter < 0 || parameter >= wanted) {
        return;
      }
      executable.output(output).read(gradient, layout.entries().get(parameter).offset());
      there[parameter] = true;
      int before = missing[0];
      while (missing[0] > 0 && there[missing[0] - 1]) {
        missing[0]--;
      }
      if (missing[0] < before) {
        ready.accept(layout.entries().get(missing[0]).offset());
      }
    });
  }

  private void write(Batch batch, float[] flatStatistics) {
    if (!vector.toDevice()) {
      write(parameters, vector.read());
    }
    write(statistics, flatStatistics);
    if (features.dtype() == DType.I32) {
      for (int i = 0; i < tokens.length; i++) {
        tokens[i] = (int) batch.features()[i];
      }
      features.write(tokens, 0);
    } else {
      features.write(batch.features(), 0);
    }
    targets.write(batch.targets(), 0);
  }

  private static void write(List<Tensor> tensors, float[] flat) {
    int offset = 0;
    for (Tensor tensor : tensors) {
      tensor.write(flat, offset);
      offset += tensor.shape().elements();
    }
  }

  /** An output of the last run; valid until the next. */
  Tensor output(int index) {
    return executable.output(index);
  }

  /**
   * Copies the statistics of the last run's batch.
   *
   * @param flat receives them side by side
   */
  void readStatistics(float[] flat) {
    int offset = 0;
    int output = 1 + gradients;
    while (offset < flat.length) {
      Tensor tensor = executable.output(output++);
      tensor.read(flat, offset);
      offset += tensor.shape().elements();
    }
  }

  @Override
  public void close() {
    executable.close();
  }
}
