package dev.kastor.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.KastorShell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Measures the built engine in a process of its own; the peer, if any, is played. */
final class BenchEngineIT {
  @TempDir private static Path folder;
  private static KastorShell shell;

  @BeforeAll
  static void open() {
    shell = new KastorShell(folder.resolve("kastor"), folder);
  }

  @AfterAll
  static void close() {
    shell.close();
  }

  private static JsonNode measure(String peer) throws IOException {
    Path json = folder.resolve("engine.json");
    String said =
        shell.succeed(
            "bench",
            "engine",
            "--models",
            "mlp",
            "--threads",
            "1",
            "--seconds",
            "0.1",
            "--rounds",
            "2",
            "--peer",
            peer,
            "--json",
            json.toString());
    assertThat(said).contains("STEPS/S", "mlp, 1 thread: round 2 of 2");
    return new ObjectMapper().readTree(Files.readString(json)).at("/cases/0");
  }

  @Test
  void measuresOurSideAlone() throws Exception {
    JsonNode one = measure("none");
    assertThat(one.get("model").asText()).isEqualTo("mlp");
    assertThat(one.get("threads").asInt()).isEqualTo(1);
    assertThat(one.get("parameters").asInt()).isEqualTo(669_706);
    for (String figure : List.of("stepsPerSecond", "firstStepSeconds", "peakBytes")) {
      assertThat(one.get(figure).asDouble()).as(figure).isPositive();
    }
    assertThat(one.get("rounds")).hasSize(2);
    assertThat(one.has("peer")).isFalse();
  }

  @Test
  void comparesWithThePythonThatItIsGiven() throws Exception {
    Path python = folder.resolve("python");
    Files.writeString(
        python,
        """
        #!/bin/sh
        test -f "$1" && test "$OMP_NUM_THREADS" = "$3" || exit 1
        echo '{"device": "cpu", "library": "PyTorch 0", "parameters": 669706, "loss": 2.3}'
        while read -r line; do
          echo '{"steps": 1, "seconds": 2, "cpuSeconds": 1, "peakBytes": 4096, "loss": 2.3}'
        done
        """);
    assertThat(python.toFile().setExecutable(true)).isTrue();
    JsonNode one = measure(python.toString());
    assertThat(one.get("peer").asText()).isEqualTo("PyTorch 0");
    assertThat(one.get("peerStepsPerSecond").asDouble()).isEqualTo(0.5);
    assertThat(one.get("ratio").asDouble()).isPositive();
  }
}
