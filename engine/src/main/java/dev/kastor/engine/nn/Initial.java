package dev.kastor.engine.nn;

import java.util.random.RandomGenerator;

/** The law of a parameter's first value; each draw is a function of the generator alone. */
@FunctionalInterface
public interface Initial {
  Initial ZEROS = _ -> 0;
  Initial ONES = _ -> 1;

  /** One element. */
  float draw(RandomGenerator random);

  /** Uniform in {@code [-limit, limit)}. */
  static Initial uniform(double limit) {
    return random -> (float) (limit * (2 * random.nextDouble() - 1));
  }

  /**
   * Uniform with variance {@code 2 / inputs}, which keeps the scale of activations through ReLU (He
   * et al., ICCV 2015, section 2.2). Uniform because it needs no transcendental function, so that
   * every machine draws the same bits.
   */
  static Initial scaled(int inputs) {
    return uniform(Math.sqrt(6.0 / inputs));
  }
}
