package dev.kastor.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.local.Installation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where the time of a model's training steps goes, told by the engine in a process of its own. */
public final class EngineProfile {
  private EngineProfile() {}

  /**
   * Profiles.
   *
   * @param first steps that come before those that count
   * @param trace file for all single runs; null for none
   * @return what {@code dev.kastor.engine.bench.ProfileProcess} prints
   */
  public static JsonNode of(
      Workload workload,
      Installation installation,
      int threads,
      int first,
      int steps,
      @Nullable Path trace)
      throws BenchException, IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(Sides.engine(installation, "dev.kastor.engine.bench.ProfileProcess"));
    command.addAll(
        List.of(
            workload.model().toString(),
            Integer.toString(threads),
            Integer.toString(first),
            Integer.toString(steps),
            trace == null ? "" : trace.toAbsolutePath().toString()));
    Path errors = Files.createTempFile("kastor-profile", ".log");
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
          throw new BenchException(
              "%s could not be profiled: %s"
                  .formatted(workload.name(), Files.readString(errors).strip()));
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
