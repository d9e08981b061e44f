package dev.kastor.engine.train;

import dev.kastor.plugin.Options;
import dev.kastor.training.Feature;

/** Plug-in that describes and creates a collective, which {@code spec.training} names. */
public interface CollectivePlugin extends Feature {
  /** A collective that has summed nothing yet, with the values of its options. */
  Collective create(Options options);
}
