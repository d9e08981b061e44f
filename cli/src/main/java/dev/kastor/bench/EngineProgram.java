package dev.kastor.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.local.Installation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A program of the engine in a process of its own that prints one JSON object and ends. */
final class EngineProgram {
  private EngineProgram() {}

  /**
   * Runs it.
   *
   * @param program a class with a main method
   * @param threads that it may compute with
   * @param trouble what to say if it fails, before what it says itself
   * @return what it prints
   */
  static JsonNode ask(
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
      return new ObjectMapper().readTree(said);
    } finally {
      Files.deleteIfExists(errors);
    }
  }
}
