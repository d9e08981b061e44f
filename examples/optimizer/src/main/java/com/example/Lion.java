package com.example;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.OptimizerPlugin;
import dev.kastor.engine.train.Update;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

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
    return new Signed(options.get(BETA2).floatValue());
  }

  /** Slot: the momentum of each parameter. */
  private record Signed(float beta2) implements Optimizer {
    @Override
    public String name() {
      return "lion";
    }

    @Override
    public SequencedMap<String, Integer> slots(Layout layout) {
      return new LinkedHashMap<>(Map.of("momentum", layout.elements()));
    }

    @Override
    public void apply(Update update) {
      float[] parameters = update.parameters();
      float[] gradient = update.gradient();
      float[] momentum = update.slot("momentum");
      for (int i = 0; i < parameters.length; i++) {
        float mix = BETA1 * momentum[i] + (1 - BETA1) * gradient[i];
        parameters[i] -= (float) update.learningRate() * Math.signum(mix);
        momentum[i] = beta2 * momentum[i] + (1 - beta2) * gradient[i];
      }
    }
  }
}
