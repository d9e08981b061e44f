package dev.kastor.engine.select;

import dev.kastor.engine.train.Draws;
import dev.kastor.engine.train.ExampleSelector;
import java.io.IOException;

/** Judgement of positions one after another, by one draw each, until a step has its examples. */
final class Judging {
  /** Positions that a step may judge, as a multiple of those that it needs on average. */
  private static final int MOST_JUDGED = 4;

  private static final long STREAM = 0;

  private final long seed;

  Judging(long seed) {
    this.seed = seed;
  }

  /** Probability with which the example at a position is to be trained. */
  @FunctionalInterface
  interface Rule {
    double probability(long position) throws IOException;
  }

  /**
   * The choice of a step.
   *
   * <p>After four times as many positions as it needs on average, it takes the others as they come
   * and asks no rule: losses that are all near 0 must not hold a job up.
   *
   * @param share of the positions that are chosen on average, above 0
   */
  ExampleSelector.Choice choose(long cursor, int wanted, double share, Rule rule)
      throws IOException {
    long[] positions = new long[wanted];
    long last = cursor + (long) Math.ceil(MOST_JUDGED * wanted / share);
    long position = cursor;
    for (int chosen = 0; chosen < wanted; position++) {
      if (position >= last || Draws.uniform(seed, STREAM, position) < rule.probability(position)) {
        positions[chosen++] = position;
      }
    }
    return new ExampleSelector.Choice(positions, position);
  }
}
