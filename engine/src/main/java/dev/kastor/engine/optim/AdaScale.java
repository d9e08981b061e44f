package dev.kastor.engine.optim;

import dev.kastor.engine.train.LearningRateRule;
import dev.kastor.protocol.GradientStats;
import java.util.Optional;

/**
 * Multiplies the learning rate by the gain, the progress of a step in steps of the initial batch
 * (Johnson et al., AdaScale SGD, ICML 2020, algorithm 1); 1 until the noise is known.
 */
public record AdaScale() implements LearningRateRule {
  @Override
  public String name() {
    return "AdaScale";
  }

  @Override
  public String description() {
    return "Multiplies the learning rate by the progress of a step in steps of the initial batch.";
  }

  @Override
  public double factor(double scale, Optional<GradientStats> gradient) {
    return gradient.map(stats -> stats.gain(scale * stats.initialBatch())).orElse(1.0);
  }
}
