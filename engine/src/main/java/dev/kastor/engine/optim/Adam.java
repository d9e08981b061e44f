package dev.kastor.engine.optim;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.nn.ElementwiseUpdate;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.OptimizerPlugin;
import dev.kastor.engine.train.Update;
import dev.kastor.plugin.Option;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Adam (Kingma and Ba, ICLR 2015, algorithm 1) with decoupled weight decay (Loshchilov and Hutter,
 * ICLR 2019).
 *
 * <p>Slots: {@code first} and {@code second} moments. Differs from the paper only in that the bias
 * corrections are folded into the rate and the epsilon, as its section 2 suggests.
 *
 * @param beta1 decay of the first moment, in [0, 1)
 * @param beta2 decay of the second moment, in [0, 1)
 * @param epsilon added to the root of the second moment, above 0
 * @param weightDecay at least 0
 */
public record Adam(double beta1, double beta2, double epsilon, double weightDecay)
    implements Optimizer, ElementwiseUpdate {
  private static final String FIRST = "first";
  private static final String SECOND = "second";

  private static final Option<Double> EPSILON = Settings.epsilon(1e-8);

  static final OptimizerPlugin PLUGIN =
      OptimizerPlugin.of(
          "adam",
          "Adam with decoupled weight decay; momentum is the decay of its first moment.",
          List.of(Settings.MOMENTUM, Settings.BETA2, EPSILON, Settings.WEIGHT_DECAY),
          options ->
              new Adam(
                  options.get(Settings.MOMENTUM),
                  options.get(Settings.BETA2),
                  options.get(EPSILON),
                  options.get(Settings.WEIGHT_DECAY)));

  public Adam {
    Settings.checkMomentum(beta1);
    Settings.checkMomentum(beta2);
    Settings.checkWeightDecay(weightDecay);
    Settings.checkEpsilon(epsilon);
  }

  @Override
  public String name() {
    return "adam";
  }

  @Override
  public SequencedMap<String, Integer> slots(Layout layout) {
    return Settings.slots(layout, FIRST, SECOND);
  }

  @Override
  public void apply(Update update) {
    float[] parameters = update.parameters();
    float[] gradient = update.gradient();
    float[] firsts = update.slot(FIRST);
    float[] seconds = update.slot(SECOND);
    float[] numbers = numbers(update.learningRate(), update.step());
    float rate = numbers[0];
    float small = numbers[1];
    float shrink = numbers[2];
    float keep1 = (float) beta1;
    float keep2 = (float) beta2;
    for (int i = 0; i < parameters.length; i++) {
      float g = gradient[i];
      float first = keep1 * firsts[i] + (1 - keep1) * g;
      float second = keep2 * seconds[i] + (1 - keep2) * g * g;
      firsts[i] = first;
      seconds[i] = second;
      parameters[i] -= rate * first / ((float) Math.sqrt(second) + small) + shrink * parameters[i];
    }
  }

  @Override
  public Optional<ElementwiseUpdate> elementwise() {
    return Optional.of(this);
  }

  /** The rate and the epsilon, both with the corrections of the bias, and the decay. */
  @Override
  public float[] numbers(double learningRate, long step) {
    double time = (double) (step + 1);
    double correction1 = 1 - Math.pow(beta1, time);
    double correction2 = 1 - Math.pow(beta2, time);
    return new float[] {
      (float) (learningRate * Math.sqrt(correction2) / correction1),
      (float) (epsilon * Math.sqrt(correction2)),
      (float) (learningRate * weightDecay)
    };
  }

  @Override
  public Vectors update(Vectors before, Node gradient, List<Node> numbers) {
    Node parameters = before.parameters();
    float keep1 = (float) beta1;
    float keep2 = (float) beta2;
    Node first = before.slot(FIRST).multiply(keep1).add(gradient.multiply(1 - keep1));
    Node second =
        before.slot(SECOND).multiply(keep2).add(gradient.multiply(1 - keep2).multiply(gradient));
    Node moved = numbers.get(0).multiply(first).divide(second.sqrt().add(numbers.get(1)));
    Node shrunk = numbers.get(2).multiply(parameters);
    SequencedMap<String, Node> slots = new TreeMap<>();
    slots.put(FIRST, first);
    slots.put(SECOND, second);
    return new Vectors(parameters.subtract(moved.add(shrunk)), slots);
  }
}
