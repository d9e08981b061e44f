package dev.kastor.engine.train;

import dev.kastor.plugin.Options;
import dev.kastor.training.Feature;

/** Plug-in that describes and creates a tuner, which {@code spec.training} names. */
public interface TunerPlugin extends Feature {
  /** A tuner that knows of no step yet, with the values of its options. */
  Tuner create(Options options);
}
