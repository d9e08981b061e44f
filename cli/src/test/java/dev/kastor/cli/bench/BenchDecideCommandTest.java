package dev.kastor.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BenchDecideCommandTest {
  @TempDir private Path folder;

  @Tag("slow")
  @Test
  void writesACaseForEachPolicyAndSize() throws IOException {
    Path json = folder.resolve("decide.json");
    Terminal.Result result =
        Terminal.runPlain(
            "bench",
            "decide",
            "--policies",
            "srtf,sia",
            "--sizes",
            "3x8,5x16",
            "--decisions",
            "4",
            "--json",
            json.toString());
    assertThat(result.code()).isZero();
    assertThat(result.out()).contains("srtf", "sia", "P99");
    JsonNode cases = new ObjectMapper().readTree(Files.readString(json)).get("cases");
    assertThat(cases).hasSize(4);
    JsonNode last = cases.get(3);
    assertThat(last.get("policy").asText()).isEqualTo("sia");
    assertThat(last.get("jobs").asInt()).isEqualTo(5);
    assertThat(last.get("gpus").asInt()).isEqualTo(16);
    for (String figure :
        new String[] {"meanMillis", "p99Millis", "incrementalP99Millis", "rssBytes"}) {
      assertThat(last.get(figure).asDouble()).as(figure).isPositive();
    }
  }

  @Test
  void refusesBeforeItMeasures() {
    assertThat(Terminal.runPlain("bench", "decide", "--sizes", "20x63").code())
        .isEqualTo(ExitCode.USAGE);
    Terminal.Result unknown = Terminal.runPlain("bench", "decide", "--policies", "best");
    assertThat(unknown.code()).isEqualTo(ExitCode.USAGE);
    assertThat(unknown.err()).contains("there is no policy 'best'");
  }
}
