package dev.kastor.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.local.Installation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Program of the engine in a process of its own that prints JSON objects and ends. */
public final class EngineProgram {
  private EngineProgram() {}

  /**
   * Runs one that prints a single object.
   *
   * @return what it prints
   */
  static JsonNode ask(
      Installation installation,
      String program,
      List<String> arguments,
      int threads,
      String trouble)
      throws BenchException, IOException, InterruptedException {
    List<JsonNode> lines = lines(installation, program, arguments, threads, trouble);
    if (lines.size() != 1) {
      throw new BenchException(
          "%s: it printed %d objects, not one".formatted(trouble, lines.size()));
    }
    return lines.getFirst();
  }

  /**
   * Runs one.
   *
   * @param program a class with a main method
   * @param threads that it may compute with
   * @param trouble what to say if it fails, before what it says itself
   * @return the objects that it prints
   */
  public static List<JsonNode> lines(
      Installation installation,
      String program,
      List<String> arguments,
      int threads,
      String trouble)
      throws BenchException, IOException, InterruptedException {
    List<String> command = new ArrayList<>(Sides.engine(installation, program));
    command.addAll(arguments);
    Path errors = Files.createTempFile("kastor-engine", ".log");
    // Also after Ctrl-C, which ends this process and the one that it started.
    errors.toFile().deleteOnExit();
    try {
      ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
      builder.environment().putAll(Sides.environment(threads));
      Process process = builder.start();
      byte[] said;
      try {
        said = process.getInputStream().readAllBytes();
        if (process.waitFor() != 0) {
          throw new BenchException(trouble + ": " + Files.readString(errors).strip());
        }
      } finally {
        process.destroyForcibly();
      }
      try (MappingIterator<JsonNode> objects =
          new ObjectMapper().readerFor(JsonNode.class).readValues(said)) {
        return objects.readAll();
      }
    } finally {
      Files.deleteIfExists(errors);
    }
  }
}
