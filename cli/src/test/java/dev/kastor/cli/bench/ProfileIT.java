package dev.kastor.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

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

/** Profiles the built engine in a process of its own. */
final class ProfileIT {
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

  private static String profile(int expected, String... arguments) {
    List<String> all = new ArrayList<>(List.of("profile"));
    all.addAll(List.of(arguments));
    KastorShell.Result result = shell.run(all.toArray(String[]::new));
    assertThat(result.code()).as(result.text()).isEqualTo(expected);
    return result.text();
  }

  @Test
  void showsWhereTheTimeOfAStepGoes() throws Exception {
    Path trace = folder.resolve("traces/trace.json");
    Path json = folder.resolve("profile.json");
    String said =
        profile(
            0, "mlp", "--steps=3", "--first=1", "--top=4", "--trace=" + trace, "--json=" + json);
    assertThat(said).contains("KERNEL", "mat mul", "[128, 512]", "more kernels", "A step takes");

    ObjectMapper mapper = new ObjectMapper();
    JsonNode sums = mapper.readTree(json.toFile());
    assertThat(sums.get("parameters").asInt()).isEqualTo(669_706);
    double kernels = 0;
    int runs = 0;
    for (JsonNode each : sums.get("kernels")) {
      kernels += each.get("seconds").asDouble();
      runs += each.get("runs").asInt();
      assertThat(each.get("runs").asInt() % 3).as("%s", each).isZero();
    }
    assertThat(kernels).isPositive().isLessThan(sums.at("/spans/pass").asDouble());
    assertThat(sums.at("/spans/pass").asDouble() + sums.at("/spans/update").asDouble())
        .isLessThanOrEqualTo(sums.get("seconds").asDouble());

    int traced = 0;
    int spans = 0;
    for (JsonNode event : mapper.readTree(trace.toFile()).get("traceEvents")) {
      boolean lasts = event.get("ph").asText().equals("X");
      traced += lasts && event.get("tid").asInt() == 2 ? 1 : 0;
      spans += lasts && event.get("tid").asInt() == 1 ? 1 : 0;
    }
    assertThat(traced).isEqualTo(runs);
    assertThat(spans).isEqualTo(2 * 3);
  }

  @Test
  void refusesWhatItCannotProfile() {
    assertThat(profile(2, "perceptron")).contains("there is no model 'perceptron'", "transformer");
    assertThat(profile(2, "mlp", "--threads=0")).contains("--threads (0) must be at least 1");
    assertThat(profile(2, "mlp", "--steps=0")).contains("--steps (0)");
    assertThat(profile(2, "mlp", "--trace=" + folder)).contains("is a folder");
  }
}
