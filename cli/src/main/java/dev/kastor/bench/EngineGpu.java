package dev.kastor.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.local.Installation;
import java.io.IOException;
import java.util.List;

/** The GPUs that the engine finds, and whether they compute what they should. */
public final class EngineGpu {
  private EngineGpu() {}

  /**
   * Looks and tries.
   *
   * @return what {@code dev.kastor.engine.bench.GpuProcess} prints
   */
  public static JsonNode check(Installation installation)
      throws BenchException, IOException, InterruptedException {
    return EngineProgram.ask(
        installation,
        "dev.kastor.engine.bench.GpuProcess",
        List.of(),
        1,
        "GPUs could not be looked for");
  }
}
