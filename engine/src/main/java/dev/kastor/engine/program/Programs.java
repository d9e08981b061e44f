package dev.kastor.engine.program;

import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.plugin.Registry;
import java.nio.file.Path;
import java.util.List;

/** The training programs by name: those of the engine, and those of the jars beside it. */
public final class Programs {
  private static final Registry<Program> BUILT_IN =
      Registry.of(
          "program",
          List.of(
              ImageProgram.glyphMlp(),
              ImageProgram.glyphCnn(),
              TextProgram.byteLm(),
              ImageProgram.imageMlp(),
              ImageProgram.imageCnn(),
              TextProgram.textLm(),
              new TableProgram()));

  private Programs() {}

  /** The engine's own programs, in the order to show them. */
  public static List<Program> all() {
    return BUILT_IN.all();
  }

  /**
   * The program of this name: one of the engine, or of the jars in the folder that the property
   * {@code kastor.plugins} names.
   *
   * @throws ProgramException if there is none, or the jars cannot be used; the message lists those
   *     that there are
   */
  public static Program get(String name) throws ProgramException {
    return get(name, PluginJars.folder());
  }

  static Program get(String name, Path folder) throws ProgramException {
    try {
      return PluginJars.registry(name, BUILT_IN, Program.class, folder).get(name);
    } catch (IllegalArgumentException e) {
      String message = String.valueOf(e.getMessage());
      throw new ProgramException(
          "%s%s Programs of your own are looked for in the jars of %s."
              .formatted(message, message.endsWith("?") ? "" : ".", folder),
          e);
    }
  }
}
