package dev.kastor.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.Kastor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Measures the built engine in a process of its own; the peer, if any, is played. */
final class BenchEngineIT {
  private static final Path ROOT =
      Path.of(System.getProperty("kastor.root")).toAbsolutePath().normalize();
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @TempDir private Path folder;

  private JsonNode measure(String peer) throws IOException, InterruptedException {
    Path json = folder.resolve("engine.json");
    Path output = folder.resolve("output");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Kastor.class.getName()));
    command.addAll(List.of("bench", "engine", "--models", "mlp", "--threads", "1"));
    command.addAll(List.of("--seconds", "0.1", "--rounds", "2", "--peer", peer));
    command.addAll(List.of("--json", json.toString()));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("KASTOR_INSTALL", ROOT.toString());
    builder.environment().put("KASTOR_HOME", folder.resolve("kastor").toString());
    Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    assertThat(process.waitFor(PATIENCE)).as(Files.readString(output)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(output)).isZero();
    assertThat(Files.readString(output)).contains("STEPS/S", "mlp, 1 thread: round 2 of 2");
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
