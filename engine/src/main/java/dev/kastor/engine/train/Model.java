package dev.kastor.engine.train;

import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.nn.Network;
import java.util.List;

/**
 * Model that a program trains, without its parameters.
 *
 * @param inputs what its features are made from
 * @param labels names of its classes; none if they have numbers alone
 */
public record Model(Network network, Inputs inputs, List<String> labels) {
  public Model {
    labels = List.copyOf(labels);
    if (!labels.isEmpty() && labels.size() != network.classes()) {
      throw new IllegalArgumentException(
          "%d labels for %d classes".formatted(labels.size(), network.classes()));
    }
  }
}
