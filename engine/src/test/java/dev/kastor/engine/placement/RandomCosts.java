package dev.kastor.engine.placement;

import dev.kastor.engine.graph.Node;
import java.util.SplittableRandom;

/** Costs without sense, for placements that nobody would choose. */
public final class RandomCosts implements Costs {
  private final SplittableRandom random;

  public RandomCosts(long seed) {
    random = new SplittableRandom(seed);
  }

  @Override
  public double seconds(Node node, Device device) {
    return random.nextDouble();
  }

  @Override
  public double seconds(long bytes, Device from, Device to) {
    return random.nextDouble();
  }
}
