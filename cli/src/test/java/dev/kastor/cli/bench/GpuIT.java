package dev.kastor.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.Kastor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Looks for GPUs with the built engine, on a machine that may have none. */
final class GpuIT {
  private static final Path ROOT =
      Path.of(System.getProperty("kastor.root")).toAbsolutePath().normalize();
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @TempDir private Path folder;

  private record Said(int exit, String text) {}

  private Said check(String... arguments) throws Exception {
    Path output = folder.resolve("output");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Kastor.class.getName()));
    command.addAll(List.of("gpu", "check"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("KASTOR_INSTALL", ROOT.toString());
    builder.environment().put("KASTOR_HOME", folder.resolve("kastor").toString());
    Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    assertThat(process.waitFor(PATIENCE)).as(Files.readString(output)).isTrue();
    return new Said(process.exitValue(), Files.readString(output));
  }

  @Test
  void saysWhyThereIsNone() throws Exception {
    assumeThat(Path.of("/proc/driver/nvidia")).as("a driver of NVIDIA's").doesNotExist();
    Said said = check();
    assertThat(said.exit()).as(said.text()).isEqualTo(1);
    assertThat(said.text()).contains("libcuda.so.1 does not load", "trained on the CPU");
    JsonNode json = new ObjectMapper().readTree(check("--json").text());
    assertThat(json.get("devices")).isEmpty();
    assertThat(json.get("reason").asText()).contains("libcuda.so.1");
  }

  @Test
  void triesEachOne() throws Exception {
    assumeThat(Path.of("/proc/driver/nvidia")).as("a driver of NVIDIA's").exists();
    Said said = check("--json");
    assertThat(said.exit()).as(said.text()).isZero();
    JsonNode found = new ObjectMapper().readTree(said.text());
    for (JsonNode device : found.get("devices")) {
      boolean rounds = Double.parseDouble(device.get("capability").asText()) >= 8;
      int ways = found.has("library") ? rounds ? 4 : 2 : 1;
      assertThat(device.get("trials")).hasSize(4 * ways);
    }
  }
}
