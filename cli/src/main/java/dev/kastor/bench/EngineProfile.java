package dev.kastor.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.local.Installation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where the time of a model's training steps goes. */
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
    return EngineProgram.ask(
        installation,
        "dev.kastor.engine.bench.ProfileProcess",
        List.of(
            workload.model().toString(),
            Integer.toString(threads),
            Integer.toString(first),
            Integer.toString(steps),
            trace == null ? "" : trace.toAbsolutePath().toString()),
        threads,
        workload.name() + " could not be profiled");
  }
}
