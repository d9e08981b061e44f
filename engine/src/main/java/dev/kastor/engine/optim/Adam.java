package dev.kastor.engine.optim;

import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.OptimizerPlugin;
import dev.kastor.plugin.Option;
import java.util.List;

/**
 * Adam (Kingma and Ba, ICLR 2015, algorithm 1) with decoupled weight decay (Loshchilov and Hutter,
 * ICLR 2019).
 *
 * <p>State: first moments, then second moments. Differs from the paper only in that the bias
 * corrections are folded into the rate and the epsilon, as its section 2 suggests.
 *
 * @param beta1 decay of the first moment, in [0, 1)
 * @param beta2 decay of the second moment, in [0, 1)
 * @param epsilon added to the root of the second moment, above 0
 * @param weightDecay at least 0
 */
public record Adam(double beta1, double beta2, double epsilon, double weightDecay)
    implements Optimizer {
  private static final Option<Double> BETA2 =
      Option.number("beta2", 0.999, "decay of the second moment")
          .where(value -> value >= 0 && value < 1, "of at least 0 and below 1");

  private static final Option<Double> EPSILON =
      Option.number("epsilon", 1e-8, "number added to the root of the second moment")
          .where(value -> value > 0 && value < 1, "above 0 and below 1");

  static final OptimizerPlugin PLUGIN =
      OptimizerPlugin.of(
          "adam",
          "Adam with decoupled weight decay; momentum is the decay of its first moment.",
          List.of(Settings.MOMENTUM, BETA2, EPSILON, Settings.WEIGHT_DECAY),
          options ->
              new Adam(
                  options.get(Settings.MOMENTUM),
                  options.get(BETA2),
                  options.get(EPSILON),
                  options.get(Settings.WEIGHT_DECAY)));

  public Adam {
    Settings.checkMomentum(beta1);
    Settings.checkMomentum(beta2);
    Settings.checkWeightDecay(weightDecay);
    if (!(epsilon > 0)) {
      throw new IllegalArgumentException("epsilon must be above 0 but is %s.".formatted(epsilon));
    }
  }

  @Override
  public String name() {
    return "adam";
  }

  @Override
  public int stateLength(int parameters) {
    return Math.multiplyExact(2, parameters);
  }

  @Override
  public void apply(
      float[] parameters, float[] gradient, float[] state, double learningRate, long step) {
    double time = (double) (step + 1);
    double correction1 = 1 - Math.pow(beta1, time);
    double correction2 = 1 - Math.pow(beta2, time);
    float rate = (float) (learningRate * Math.sqrt(correction2) / correction1);
    float small = (float) (epsilon * Math.sqrt(correction2));
    float shrink = (float) (learningRate * weightDecay);
    float keep1 = (float) beta1;
    float keep2 = (float) beta2;
    int n = parameters.length;
    for (int i = 0; i < n; i++) {
      float g = gradient[i];
      float first = keep1 * state[i] + (1 - keep1) * g;
      float second = keep2 * state[n + i] + (1 - keep2) * g * g;
      state[i] = first;
      state[n + i] = second;
      parameters[i] -= rate * first / ((float) Math.sqrt(second) + small) + shrink * parameters[i];
    }
  }
}
