package dev.kastor.engine.optim;

import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.OptimizerPlugin;
import java.util.List;

/**
 * Stochastic gradient descent with heavy-ball momentum and L2 weight decay.
 *
 * <p>{@code v = momentum * v + (g + weightDecay * w); w = w - learningRate * v}. The learning rate
 * is outside of {@code v} (as in Sutskever et al., ICML 2013, rewritten so), so that a change of it
 * acts on the whole update at once.
 *
 * @param momentum in [0, 1)
 * @param weightDecay at least 0
 */
public record Sgd(double momentum, double weightDecay) implements Optimizer {
  static final OptimizerPlugin PLUGIN =
      OptimizerPlugin.of(
          "sgd",
          "Stochastic gradient descent with heavy-ball momentum and L2 weight decay.",
          List.of(Settings.MOMENTUM, Settings.WEIGHT_DECAY),
          options -> new Sgd(options.get(Settings.MOMENTUM), options.get(Settings.WEIGHT_DECAY)));

  public Sgd {
    Settings.checkMomentum(momentum);
    Settings.checkWeightDecay(weightDecay);
  }

  @Override
  public String name() {
    return "sgd";
  }

  @Override
  public int stateLength(int parameters) {
    return momentum > 0 ? parameters : 0;
  }

  @Override
  public void apply(
      float[] parameters, float[] gradient, float[] state, double learningRate, long step) {
    float rate = (float) learningRate;
    float decay = (float) weightDecay;
    if (momentum == 0) {
      for (int i = 0; i < parameters.length; i++) {
        parameters[i] -= rate * (gradient[i] + decay * parameters[i]);
      }
      return;
    }
    float keep = (float) momentum;
    for (int i = 0; i < parameters.length; i++) {
      float velocity = keep * state[i] + (gradient[i] + decay * parameters[i]);
      state[i] = velocity;
      parameters[i] -= rate * velocity;
    }
  }
}
