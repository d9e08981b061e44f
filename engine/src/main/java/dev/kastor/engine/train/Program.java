package dev.kastor.engine.train;

import dev.kastor.plugin.Plugin;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** Training program, which {@code spec.program.name} of a TrainingJob names. */
public interface Program extends Plugin {
  /** Parameters it understands with their defaults, as strings; others are refused. */
  Map<String, String> defaultParameters();

  /**
   * Parameters that are paths of files or folders. Where a job is submitted on the machine that
   * trains it, one that does not begin with {@code /} begins in the folder of who submits it.
   */
  default Set<String> pathParameters() {
    return Set.of();
  }

  /**
   * Checks the parameters, and of the data what takes milliseconds: headers, first rows, listings
   * of folders. Whoever submits a job on the machine of its data learns from this what is wrong
   * with it before it is stored.
   *
   * @param parameters the defaults overridden by the user's
   * @return the most training examples that the data can hold, if that is known
   * @throws ProgramException if {@link #load} would fail; the message names what is bad
   */
  default OptionalLong check(Map<String, String> parameters) throws ProgramException {
    optimizer(parameters);
    return OptionalLong.empty();
  }

  /**
   * The model that is trained with these parameters, so that it can be exported; it may read the
   * data, whose classes and shapes it depends on.
   *
   * @param parameters the defaults overridden by the user's
   * @return the model, or nothing where what is trained is no {@code Network}
   * @throws ProgramException if a parameter or a data file is bad; the message names it
   */
  default Optional<Model> model(Map<String, String> parameters) throws ProgramException {
    return Optional.empty();
  }

  /**
   * Loads data and builds the model; equal arguments give bit-identical initial parameters.
   *
   * @param parameters the defaults overridden by the user's
   * @throws ProgramException if a parameter or a data file is bad; the message names it
   */
  Trainable load(Map<String, String> parameters) throws ProgramException;

  /**
   * The same with what the user chose for the passes of the model. A program whose model has no
   * graph refuses it.
   *
   * @param settings of the passes
   * @throws ProgramException as above, or if something is chosen and the program has no graph
   */
  default Trainable load(Map<String, String> parameters, PassSettings settings)
      throws ProgramException {
    if (settings.devices().isPresent()) {
      throw new ProgramException(
          "Program %s has no graph that devices could share. Leave spec.training.devices out."
              .formatted(name()));
    }
    if (!settings.rewrites().switches().isEmpty()) {
      throw new ProgramException(
          "Program %s has no graph that passes rewrite. Leave spec.training.passes out."
              .formatted(name()));
    }
    return load(parameters);
  }

  /** The optimizer of these parameters. */
  Optimizer optimizer(Map<String, String> parameters) throws ProgramException;
}
