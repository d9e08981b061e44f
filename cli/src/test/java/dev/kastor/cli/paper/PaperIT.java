package dev.kastor.cli.paper;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.KastorProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A paper measured with the built engine, at a reduced size. */
final class PaperIT {
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @TempDir private Path folder;
  @TempDir private Path temporary;

  @Test
  void measuresAPaperOfTheEngine() throws Exception {
    JsonNode report = reduced("eager");
    assertThat(report.get("claims")).hasSize(2);
    for (JsonNode claim : report.get("claims")) {
      assertThat(claim.get("ours").asDouble()).isPositive();
      assertThat(claim.get("verdict").asText()).isIn("reproduced", "partly", "refuted");
    }
  }

  @Test
  void measuresAPaperInABrowser() throws Exception {
    JsonNode claim = reduced("tensorflow-js").get("claims").get(0);
    assertThat(claim.get("ours").asDouble()).as("%s", claim).isEqualTo(1);
    assertThat(claim.toString()).contains("glyph-mlp", "glyph-cnn", "ms an image");
    try (Stream<Path> left = Files.list(temporary)) {
      assertThat(left).isEmpty();
    }
  }

  private JsonNode reduced(String paper) throws Exception {
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    ProcessBuilder builder =
        KastorProcess.builder(
            folder.resolve("kastor"),
            List.of("-Djava.io.tmpdir=" + temporary),
            "paper",
            paper,
            "--reduced",
            "--json");
    Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    assertThat(process.waitFor(PATIENCE)).as(Files.readString(err)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(err)).isZero();
    assertThat(Files.readString(err)).as("progress").isNotBlank();
    JsonNode report = new ObjectMapper().readTree(Files.readString(out));
    assertThat(report.get("name").asText()).isEqualTo(paper);
    assertThat(report.get("reduced").asBoolean()).isTrue();
    return report;
  }
}
