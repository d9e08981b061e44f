package dev.kastor.engine.optim;

import dev.kastor.engine.train.Optimizer;
import java.util.List;

/** The optimizers by name. */
public final class Optimizers {
  private Optimizers() {}

  /** All names, in the order to show them. */
  public static List<String> names() {
    return List.of("sgd", "adam");
  }

  /**
   * Makes an optimizer.
   *
   * @param momentum of SGD, or the decay of Adam's first moment
   * @throws IllegalArgumentException if the name is unknown or a value is out of range
   */
  public static Optimizer create(String name, double momentum, double weightDecay) {
    return switch (name) {
      case "sgd" -> new Sgd(momentum, weightDecay);
      case "adam" -> new Adam(momentum, 0.999, 1e-8, weightDecay);
      default ->
          throw new IllegalArgumentException(
              "Optimizer '%s' is unknown; valid are: %s."
                  .formatted(name, String.join(", ", names())));
    };
  }
}
