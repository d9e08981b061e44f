package com.example;

import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.OptimizerPlugin;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import java.util.List;

/** Lion (Chen et al., NeurIPS 2023, algorithm 2), without weight decay. */
public final class Lion implements OptimizerPlugin {
  private static final float BETA1 = 0.9f;

  private static final Option<Double> BETA2 =
      Option.number("beta2", 0.99, "decay of the momentum")
          .where(value -> value >= 0 && value < 1, "of at least 0 and below 1");

  @Override
  public String name() {
    return "lion";
  }

  @Override
  public String description() {
    return "The sign of a mix of momentum and gradient.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(BETA2);
  }

  @Override
  public Optimizer create(Options options) {
    return new Update(options.get(BETA2).floatValue());
  }

  /** State: the momentum of each parameter. */
  private record Update(float beta2) implements Optimizer {
    @Override
    public String name() {
      return "lion";
    }

    @Override
    public int stateLength(int parameters) {
      return parameters;
    }

    @Override
    public void apply(
        float[] parameters, float[] gradient, float[] state, double learningRate, long step) {
      for (int i = 0; i < parameters.length; i++) {
        float mix = BETA1 * state[i] + (1 - BETA1) * gradient[i];
        parameters[i] -= (float) learningRate * Math.signum(mix);
        state[i] = beta2 * state[i] + (1 - beta2) * gradient[i];
      }
    }
  }
}
