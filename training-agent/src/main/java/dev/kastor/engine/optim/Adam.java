package dev.kastor.engine.optim;

import dev.kastor.engine.train.Optimizer;

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
