package com.example;

import dev.kastor.engine.train.GradientStage;
import dev.kastor.engine.train.GradientStagePlugin;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import java.util.List;

/** Gradient clipping by global norm (Pascanu et al., ICML 2013, algorithm 1). */
public final class ClipByNorm implements GradientStagePlugin {
  private static final Option<Double> NORM =
      Option.number("norm", 1, "largest Euclidean norm of the gradient of all parameters")
          .where(value -> value > 0, "above 0");

  @Override
  public String name() {
    return "clip";
  }

  @Override
  public String description() {
    return "Shortens a gradient that is longer than a norm to that norm.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(NORM);
  }

  @Override
  public GradientStage create(Options options) {
    double most = options.get(NORM);
    return (gradient, step) -> {
      double squares = 0;
      for (float value : gradient) {
        squares += (double) value * value;
      }
      double norm = Math.sqrt(squares);
      if (norm > most) {
        float factor = (float) (most / norm);
        for (int i = 0; i < gradient.length; i++) {
          gradient[i] *= factor;
        }
      }
    };
  }
}
