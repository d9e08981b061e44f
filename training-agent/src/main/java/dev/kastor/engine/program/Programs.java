package dev.kastor.engine.program;

import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The training programs by name: those of the engine, and those of the jars beside it. */
public final class Programs {
  private static final List<Program> ALL =
      List.of(
          ImageProgram.glyphMlp(),
          ImageProgram.glyphCnn(),
          TextProgram.byteLm(),
          ImageProgram.imageMlp(),
          ImageProgram.imageCnn(),
          TextProgram.textLm(),
          new TableProgram());

  private Programs() {}

  /** The engine's own programs, in the order to show them. */
  public static List<Program> all() {
    return ALL;
  }

  /**
   * The program of this name.
   *
   * @throws ProgramException if there is none, or the jars cannot be used; the message lists those
   *     that there are
   */
  public static Program get(String name) throws ProgramException {
    return get(name, ProgramFolder.path());
  }

  static Program get(String name, Path folder) throws ProgramException {
    Optional<Program> known = named(name, ALL);
    if (known.isPresent()) {
      return known.get();
    }
    List<Program> own = ProgramFolder.read(folder);
    return named(name, own)
        .orElseThrow(() ->
            new ProgramException(
                "Program '%s' is unknown; valid are: %s. Programs of your own are looked for in the jars of %s."
                    .formatted(
                        name,
                        Stream.concat(ALL.stream(), own.stream())
                            .map(Program::name)
                            .collect(Collectors.joining(", ")),
                        folder)));
  }

  private static Optional<Program> named(String name, List<Program> programs) {
    return programs.stream().filter(program -> program.name().equals(name)).findFirst();
  }
}
