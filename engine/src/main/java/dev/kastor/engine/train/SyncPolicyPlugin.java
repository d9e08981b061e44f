package dev.kastor.engine.train;

import dev.kastor.plugin.Options;
import dev.kastor.training.Feature;

/** Plug-in that describes and creates a policy of rounds, which {@code spec.training} names. */
public interface SyncPolicyPlugin extends Feature {
  /** A policy that knows of no round yet, with the values of its options. */
  SyncPolicy create(Options options);
}
