package dev.kastor.engine.program;

import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import java.util.List;

/** The training programs by name. */
public final class Programs {
  private static final List<Program> ALL =
      List.of(
          ImageProgram.glyphMlp(),
          ImageProgram.glyphCnn(),
          TextProgram.byteLm(),
          ImageProgram.imageMlp(),
          ImageProgram.imageCnn(),
          TextProgram.textLm());

  private Programs() {}

  /** All programs, in the order to show them. */
  public static List<Program> all() {
    return ALL;
  }

  /**
   * The program of this name.
   *
   * @throws ProgramException if there is none; the message lists those that there are
   */
  public static Program get(String name) throws ProgramException {
    for (Program program : ALL) {
      if (program.name().equals(name)) {
        return program;
      }
    }
    throw new ProgramException(
        "Program '%s' is unknown; valid are: %s."
            .formatted(name, String.join(", ", ALL.stream().map(Program::name).toList())));
  }
}
