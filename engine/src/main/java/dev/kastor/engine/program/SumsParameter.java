package dev.kastor.engine.program;

import dev.kastor.engine.train.ProgramException;
import dev.kastor.plugin.Selection;
import dev.kastor.training.TrainingChoices;
import java.util.Map;
import java.util.Optional;

/**
 * The parameter {@value #NAME} of every program: an old word for {@code spec.training.collective},
 * which jobs that are stored may have.
 */
public final class SumsParameter {
  static final String NAME = "sums";

  private SumsParameter() {}

  /**
   * Takes the parameter out of those that are given to a program, into the choices of its job.
   *
   * @throws ProgramException if it has no such value, or the job chooses a collective as well
   */
  public static TrainingChoices take(Map<String, String> parameters, TrainingChoices choices)
      throws ProgramException {
    Optional<Selection> sums = take(parameters);
    if (sums.isPresent() && choices.collective().isPresent()) {
      throw new ProgramException(
          "training.collective: %s and the program's parameter sums: %s choose the same thing. Take sums out."
              .formatted(choices.collective().get().name(), sums.get().name()));
    }
    return sums.isPresent() ? choices.with(sums.get()) : choices;
  }

  /**
   * Takes the parameter out of those that are given to a program.
   *
   * @return the collective that it chooses
   * @throws ProgramException if it has no such value
   */
  static Optional<Selection> take(Map<String, String> parameters) throws ProgramException {
    String text = parameters.remove(NAME);
    if (text == null) {
      return Optional.empty();
    }
    return switch (text.strip()) {
      case "ring", "nccl" -> Optional.of(Selection.parse(text));
      default ->
          throw ProgramException.of(
              NAME,
              "Parameter '%s' must be ring or nccl but is '%s'. Use training.collective instead."
                  .formatted(NAME, text));
    };
  }
}
