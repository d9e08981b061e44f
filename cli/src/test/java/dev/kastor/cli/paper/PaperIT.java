package dev.kastor.cli.paper;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.Kastor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A paper measured with the built engine, at a reduced size. */
final class PaperIT {
  private static final Path ROOT =
      Path.of(System.getProperty("kastor.root")).toAbsolutePath().normalize();
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  @TempDir private Path folder;

  @Test
  void measuresAPaperOfTheEngine() throws Exception {
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Kastor.class.getName(),
                "paper",
                "eager",
                "--reduced",
                "--json"));
    builder.environment().put("KASTOR_INSTALL", ROOT.toString());
    builder.environment().put("KASTOR_HOME", folder.resolve("kastor").toString());
    Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    assertThat(process.waitFor(PATIENCE)).as(Files.readString(err)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(err)).isZero();
    assertThat(Files.readString(err)).contains("SamplerRates 2");
    JsonNode report = new ObjectMapper().readTree(Files.readString(out));
    assertThat(report.get("name").asText()).isEqualTo("eager");
    assertThat(report.get("reduced").asBoolean()).isTrue();
    assertThat(report.get("claims")).hasSize(2);
    for (JsonNode claim : report.get("claims")) {
      assertThat(claim.get("ours").asDouble()).isPositive();
      assertThat(claim.get("verdict").asText()).isIn("reproduced", "partly", "refuted");
    }
  }
}
