package dev.kastor.engine.optim;

import dev.kastor.engine.train.LearningRateRule;
import dev.kastor.plugin.Registry;
import java.util.List;

/** Registry of learning-rate rules, which {@code spec.goodput.learningRate.scaling} names. */
public final class LearningRateRules {
  /** All of them, in the order to show them. */
  public static final Registry<LearningRateRule> BUILT_IN =
      Registry.of(
          "learning-rate scaling",
          List.of(new AdaScale(), new SquareRoot(), new Linear(), new None()));

  private LearningRateRules() {}
}
