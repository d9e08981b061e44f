package dev.kastor.engine.train;

import dev.kastor.engine.graph.pass.PassPipeline;
import dev.kastor.plugin.Chosen;
import java.util.Optional;

/**
 * Settings of the passes of a job's model: what a program hands on to its model's graphs.
 *
 * @param rewrites graph passes
 * @param devices how the devices of a replica share a pass; empty for all of it on one
 * @param slots devices that a replica may use
 */
public record PassSettings(
    PassPipeline rewrites, Optional<Chosen<DevicesPlugin>> devices, int slots) {
  /** Passes of a job that chooses nothing. */
  public static final PassSettings USUAL =
      new PassSettings(PassPipeline.USUAL, Optional.empty(), 1);
}
