package dev.kastor.engine.program;

import dev.kastor.engine.data.DataException;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedMap;

/**
 * Findings about the program of a job, its parameters and its data, on the machine that has them
 * and before the job is stored. Nothing is trained and no data is read in full.
 *
 * @param parameters the given parameters, with paths as they are on this machine
 * @param problems what would make the job fail at its start
 * @param mostExamples the most training examples that the data can hold, if that is known
 */
public record ProgramCheck(
    SequencedMap<String, String> parameters, List<Problem> problems, OptionalLong mostExamples) {
  public ProgramCheck {
    problems = List.copyOf(problems);
  }

  /**
   * Reason why a job would fail.
   *
   * @param parameter the parameter to be changed, if it is one; else it is the program
   * @param message what is wrong, without the name of the parameter
   */
  public record Problem(Optional<String> parameter, String message) {
    private static Problem of(String program, ProgramException e) {
      String message = String.valueOf(e.getMessage());
      String parameter = "Parameter '%s'".formatted(e.parameter().orElse(""));
      for (String prefix :
          List.of(parameter + " ", parameter + ": ", "Program " + program + ": ")) {
        if (message.startsWith(prefix)) {
          message = message.substring(prefix.length());
        }
      }
      return new Problem(e.parameter(), message);
    }
  }

  /**
   * Checks a program.
   *
   * @param name name of the program
   * @param given parameters without defaults
   * @param plugins folder of the jars of programs and optimizers
   * @param folder where paths begin that are not absolute
   */
  public static ProgramCheck of(String name, Map<String, String> given, Path plugins, Path folder) {
    return ScopedValue.where(PluginJars.CHECKED, plugins).call(() -> of(name, given, folder));
  }

  private static ProgramCheck of(String name, Map<String, String> given, Path folder) {
    SequencedMap<String, String> parameters = new LinkedHashMap<>(given);
    List<Problem> problems = new ArrayList<>();
    OptionalLong mostExamples = OptionalLong.empty();
    try {
      Program program = Programs.get(name);
      parameters.replaceAll((parameter, text) ->
          program.pathParameters().contains(parameter) ? absolute(text, folder) : text);
      mostExamples = check(program, parameters, problems);
    } catch (ProgramException e) {
      problems.add(Problem.of(name, e));
    } catch (RuntimeException | LinkageError e) {
      // Of somebody else's class.
      problems.add(
          new Problem(Optional.empty(), "program %s cannot be checked: %s".formatted(name, e)));
    }
    return new ProgramCheck(
        parameters, problems, problems.isEmpty() ? mostExamples : OptionalLong.empty());
  }

  /** Adds all problems: what is wrong with one parameter is found where another one is as well. */
  private static OptionalLong check(
      Program program, Map<String, String> parameters, List<Problem> problems) {
    Map<String, String> left = new LinkedHashMap<>(parameters);
    while (true) {
      try {
        Map<String, String> all = new LinkedHashMap<>(program.defaultParameters());
        all.putAll(left);
        SumsParameter.take(all);
        return program.check(all);
      } catch (ProgramException e) {
        problems.add(Problem.of(program.name(), e));
        String parameter = e.parameter().orElse("");
        boolean ofData =
            e.getCause() instanceof DataException || program.pathParameters().contains(parameter);
        if (ofData || left.remove(parameter) == null) {
          return OptionalLong.empty();
        }
      }
    }
  }

  private static String absolute(String text, Path folder) {
    String path = text.strip();
    try {
      return path.isEmpty() || path.startsWith("~/") ? text : folder.resolve(path).toString();
    } catch (InvalidPathException e) {
      // The program says what is wrong with it.
      return text;
    }
  }
}
