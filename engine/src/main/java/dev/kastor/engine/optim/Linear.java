package dev.kastor.engine.optim;

import dev.kastor.engine.train.LearningRateRule;
import dev.kastor.protocol.GradientStats;
import java.util.Optional;

/**
 * Multiplies the learning rate by the scale (Goyal et al., 2017, arXiv:1706.02677, section 2.1).
 */
public record Linear() implements LearningRateRule {
  @Override
  public String name() {
    return "Linear";
  }

  @Override
  public String description() {
    return "Multiplies the learning rate by the growth of the batch.";
  }

  @Override
  public double factor(double scale, Optional<GradientStats> gradient) {
    return scale;
  }
}
