package dev.kastor.engine.optim;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.OptimizerPlugin;
import dev.kastor.engine.train.Update;
import dev.kastor.plugin.Option;
import java.util.List;
import java.util.SequencedMap;

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
    implements Optimizer {
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
    double learningRate = update.learningRate();
    double time = (double) (update.step() + 1);
    double correction1 = 1 - Math.pow(beta1, time);
    double correction2 = 1 - Math.pow(beta2, time);
    float rate = (float) (learningRate * Math.sqrt(correction2) / correction1);
    float small = (float) (epsilon * Math.sqrt(correction2));
    float shrink = (float) (learningRate * weightDecay);
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
}
