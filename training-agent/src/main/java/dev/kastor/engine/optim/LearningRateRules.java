package dev.kastor.engine.optim;

import dev.kastor.engine.train.LearningRateRule;
import java.util.List;

/** The learning-rate rules by the name that {@code spec.goodput.learningRate.scaling} uses. */
public final class LearningRateRules {
  private LearningRateRules() {}

  /** All names, in the order to show them. */
  public static List<String> names() {
    return List.of("AdaScale", "SquareRoot", "Linear", "None");
  }

  /**
   * The rule of this name.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static LearningRateRule get(String name) {
    return switch (name) {
      case "AdaScale" -> new AdaScale();
      case "SquareRoot" -> new SquareRoot();
      case "Linear" -> new Linear();
      case "None" -> new None();
      default ->
          throw new IllegalArgumentException(
              "Learning-rate scaling '%s' is unknown; valid are: %s."
                  .formatted(name, String.join(", ", names())));
    };
  }
}
