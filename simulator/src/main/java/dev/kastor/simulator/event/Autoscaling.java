package dev.kastor.simulator.event;

import dev.kastor.scheduler.advice.NodeRules;
import java.time.Duration;

/**
 * A cluster that follows advice on its size: nodes that are too many leave at once, those that are
 * missing come later.
 *
 * @param rules what its owner wants
 * @param delay time from an order to the nodes' arrival
 */
public record Autoscaling(NodeRules rules, Duration delay) {
  public Autoscaling {
    if (delay.isNegative()) {
      throw new IllegalArgumentException("nodes cannot arrive early, by " + delay);
    }
  }
}
