package dev.kastor.engine.program;

import dev.kastor.engine.train.Model;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.plugin.Registry;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
              new SentenceProgram(),
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

  /**
   * The model that a job trains.
   *
   * @param name name of the program
   * @param given parameters without defaults
   * @param plugins folder of the jars of programs
   * @throws ProgramException if the program says nothing of its model, or cannot be found, or a
   *     parameter or a data file is bad
   */
  public static Model model(String name, Map<String, String> given, Path plugins)
      throws ProgramException {
    return ScopedValue.where(PluginJars.CHECKED, plugins)
        .call(() -> {
          Program program = get(name);
          Map<String, String> all = new LinkedHashMap<>(program.defaultParameters());
          all.putAll(given);
          SumsParameter.take(all);
          return program
              .model(all)
              .orElseThrow(() ->
                  new ProgramException(
                      "Program %s does not say what its parameters are, so they have no names. It has to implement model()."
                          .formatted(name)));
        });
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
