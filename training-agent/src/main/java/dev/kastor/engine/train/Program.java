package dev.kastor.engine.train;

import java.util.Map;

/** A training program that a TrainingJob names. */
public interface Program {
  /** The name used in {@code spec.program.name}. */
  String name();

  /** One sentence for people. */
  String description();

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
