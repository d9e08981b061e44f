package dev.kastor.engine.program;

import dev.kastor.engine.train.ProgramException;
import java.util.Map;

/**
 * The parameter {@value #NAME} of every program: what sums gradients over the replicas. It is for
 * whoever runs the program, which does not know it.
 */
public enum SumsParameter {
  /** Their ring's connections. */
  RING,
  /** NVIDIA's NCCL, if all of them have it. */
  NCCL;

  static final String NAME = "sums";

  /**
   * Takes the parameter out of those that are given to a program.
   *
   * @throws ProgramException if it has no such value
   */
  public static SumsParameter take(Map<String, String> parameters) throws ProgramException {
    String text = parameters.remove(NAME);
    return switch (text == null ? "ring" : text.strip()) {
      case "ring" -> RING;
      case "nccl" -> NCCL;
      default ->
          throw ProgramException.of(
              NAME, "Parameter '%s' must be ring or nccl but is '%s'.".formatted(NAME, text));
    };
  }
}
