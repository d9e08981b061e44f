package dev.kastor.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.KastorProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the demonstration as a user would, in a process of its own, with the built parts. */
final class DemoIT {
  private static final Duration PATIENCE = Duration.ofMinutes(14);

  @TempDir Path home;

  private Process kastor(Path output, String... arguments) throws IOException {
    ProcessBuilder builder = KastorProcess.builder(home.resolve("kastor"), List.of(), arguments);
    return builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
  }

  @Test
  void trainsAllJobsLosesNothingAndLeavesNothing() throws Exception {
    Path json = home.resolve("demo.json");
    Path output = home.resolve("output");
    Process demo =
        kastor(
            output,
            "demo",
            "--slots",
            "4",
            "--port",
            "0",
            "--no-compare",
            "--work",
            "0.1",
            "--timeout",
            String.valueOf(PATIENCE.toSeconds()),
            "--json",
            json.toString());
    assertThat(demo.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    String said = Files.readString(output, StandardCharsets.UTF_8);
    assertThat(demo.exitValue()).as(said).isZero();
    JsonNode report = new ObjectMapper().readTree(json.toFile());
    assertThat(report.path("lostOrRepeatedExamples").isIntegralNumber()).as(said).isTrue();
    assertThat(report.path("lostOrRepeatedExamples").asInt()).as(said).isZero();
    assertThat(report.path("paced").asBoolean()).as(said).isTrue();
    assertThat(report.path("jobs")).as(said).hasSize(8);
    for (JsonNode job : report.path("jobs")) {
      assertThat(job.path("phase").asText()).as(said).isEqualTo("Succeeded");
      assertThat(job.path("jctSeconds").asDouble()).isPositive();
      assertThat(job.path("finalMetric").isNumber()).isTrue();
      assertThat(job.path("examplesTrained").asLong()).isPositive();
      assertThat(job.path("minReplicas").asInt()).isBetween(1, job.path("maxReplicas").asInt());
      assertThat(job.path("minGlobalBatch").asInt())
          .isBetween(1, job.path("maxGlobalBatch").asInt());
    }
    assertThat(said)
        .contains("4 paced slots")
        .contains("web page")
        .contains("mean completion")
        .contains("Slots were paced");
    assertNothingIsLeft();
  }

  @Test
  void aSignalEndsAllOfIt() throws Exception {
    Path output = home.resolve("output");
    Process demo = kastor(output, "demo", "--cores", "--slots", "2", "--port", "0", "--no-compare");
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!Files.readString(output).contains(": Running")) {
      assertThat(demo.isAlive()).as(Files.readString(output)).isTrue();
      assertThat(System.nanoTime()).isLessThan(end);
      demo.waitFor(100, TimeUnit.MILLISECONDS);
    }
    List<ProcessHandle> children = demo.descendants().toList();
    assertThat(children).hasSizeGreaterThanOrEqualTo(2);
    demo.destroy();
    assertThat(demo.waitFor(10, TimeUnit.MINUTES)).isTrue();
    for (ProcessHandle child : children) {
      child.onExit().get(10, TimeUnit.MINUTES);
    }
    assertNothingIsLeft();
  }

  private void assertNothingIsLeft() throws IOException {
    try (Stream<Path> files = Files.list(home.resolve("kastor"))) {
      assertThat(files).isEmpty();
    }
    assertThat(
            ProcessHandle.allProcesses()
                .map(p -> p.info().commandLine().orElse(""))
                .filter(line -> line.contains(home.toString())))
        .isEmpty();
  }
}
