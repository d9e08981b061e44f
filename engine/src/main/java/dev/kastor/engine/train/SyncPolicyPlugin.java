package dev.kastor.engine.train;

import dev.kastor.plugin.Options;
import dev.kastor.training.Feature;
import java.util.Optional;

/** Plug-in that describes and creates a policy of rounds, which {@code spec.training} names. */
public interface SyncPolicyPlugin extends Feature {
  /** A policy that knows of no round yet, with the values of its options. */
  SyncPolicy create(Options options);

  /**
   * Servers that keep the parameters instead of the replicas; empty for none. Where there are some,
   * replicas are their workers and take no rounds.
   *
   * @throws IllegalArgumentException if two options make no sense together
   */
  default Optional<ServerPlan> servers(Options options) {
    return Optional.empty();
  }
}
