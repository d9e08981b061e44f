package dev.kastor.engine.optim;

import dev.kastor.engine.train.LearningRateRule;
import dev.kastor.protocol.GradientStats;
import java.util.Optional;

/** Leaves the learning rate as it is at every batch. */
public record None() implements LearningRateRule {
  @Override
  public String name() {
    return "None";
  }

  @Override
  public String description() {
    return "Leaves the learning rate as it is at every batch.";
  }

  @Override
  public double factor(double scale, Optional<GradientStats> gradient) {
    return 1;
  }
}
