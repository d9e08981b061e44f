package dev.kastor.engine.optim;

import dev.kastor.engine.train.LearningRateRule;
import dev.kastor.protocol.GradientStats;
import java.util.Optional;

/**
 * Multiplies the learning rate by the square root of the scale: the usual rule for Adam and its
 * kind (Krizhevsky, 2014, arXiv:1404.5997, section 5).
 */
public record SquareRoot() implements LearningRateRule {
  @Override
  public String name() {
    return "SquareRoot";
  }

  @Override
  public String description() {
    return "Multiplies the learning rate by the square root of the growth of the batch.";
  }

  @Override
  public double factor(double scale, Optional<GradientStats> gradient) {
    return Math.sqrt(scale);
  }
}
