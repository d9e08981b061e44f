package dev.kastor.engine.train;

import dev.kastor.plugin.Plugin;
import java.util.Map;

/** Training program, which {@code spec.program.name} of a TrainingJob names. */
public interface Program extends Plugin {
  /** Parameters it understands with their defaults, as strings; others are refused. */
  Map<String, String> defaultParameters();

  /**
   * Loads data and builds the model; equal arguments give bit-identical initial parameters.
   *
   * @param parameters the defaults overridden by the user's
   * @throws ProgramException if a parameter or a data file is bad; the message names it
   */
  Trainable load(Map<String, String> parameters) throws ProgramException;

  /** The optimizer of these parameters. */
  Optimizer optimizer(Map<String, String> parameters) throws ProgramException;
}
