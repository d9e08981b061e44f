package dev.kastor.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.KastorShell;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Looks for GPUs with the built engine, on a machine that may have none. */
final class GpuIT {
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

  private static KastorShell.Result check(String... arguments) {
    List<String> all = new ArrayList<>(List.of("gpu", "check"));
    all.addAll(List.of(arguments));
    return shell.run(all.toArray(String[]::new));
  }

  @Test
  void saysWhyThereIsNone() throws Exception {
    assumeThat(Path.of("/proc/driver/nvidia")).as("a driver of NVIDIA's").doesNotExist();
    KastorShell.Result said = check();
    assertThat(said.code()).as(said.text()).isEqualTo(1);
    assertThat(said.text()).contains("libcuda.so.1 does not load", "trained on the CPU");
    JsonNode json = new ObjectMapper().readTree(check("--json").text());
    assertThat(json.get("devices")).isEmpty();
    assertThat(json.get("reason").asText()).contains("libcuda.so.1");
  }

  @Test
  void triesEachOne() throws Exception {
    assumeThat(Path.of("/proc/driver/nvidia")).as("a driver of NVIDIA's").exists();
    KastorShell.Result said = check("--json");
    assertThat(said.code()).as(said.text()).isZero();
    JsonNode found = new ObjectMapper().readTree(said.text());
    for (JsonNode device : found.get("devices")) {
      boolean rounds = Double.parseDouble(device.get("capability").asText()) >= 8;
      int ways = found.has("library") ? rounds ? 4 : 2 : 1;
      assertThat(device.get("trials")).hasSize(4 * ways);
    }
  }
}
