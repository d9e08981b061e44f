package dev.kastor.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BenchPolicyCommandTest {
  private static final Path TRACES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces");

  @TempDir private Path folder;

  private static Terminal.Result bench(String... more) {
    String[] fixed = {
      "bench",
      "policy",
      "--mode",
      "sia",
      "--profiles",
      TRACES.resolve("profiles/kastor.csv").toString(),
      "--cluster",
      "4x4",
      "--workload",
      TRACES.resolve("workloads/small-40.csv").toString(),
      "--jobs",
      "2"
    };
    String[] all = new String[fixed.length + more.length];
    System.arraycopy(fixed, 0, all, 0, fixed.length);
    System.arraycopy(more, 0, all, fixed.length, more.length);
    return Terminal.runPlain(all);
  }

  @Test
  void printsATableForEachPartAndWritesJson() throws IOException {
    Path json = folder.resolve("policy.json");
    Terminal.Result result =
        bench("--parts", "comparison,robustness,ablation", "--json", json.toString());
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .contains("### Comparison", "### Robustness", "### Ablation")
        .contains("| small-40 | sia |", "| small-40 | kastor, memory, live |", "| no pricing |")
        .doesNotContain("NaN");
    for (List<String> table : tables(result.out())) {
      assertThat(table.stream().map(row -> row.chars().filter(c -> c == '|').count()).distinct())
          .as(table.getFirst())
          .hasSize(1);
    }
    assertThat(tables(result.out())).hasSize(4);
    JsonNode set = new ObjectMapper().readTree(Files.readString(json)).at("/sets/0");
    assertThat(set.get("baseline").asText()).isEqualTo("sia");
    JsonNode baseline = set.at("/contenders/0");
    assertThat(baseline.get("ratioToBaseline").asDouble()).isEqualTo(1);
    assertThat(set.get("contenders").size()).isGreaterThan(15);
    for (JsonNode contender : set.get("contenders")) {
      double mean = contender.at("/mean/avgJctSeconds").asDouble();
      assertThat(mean).isPositive();
      assertThat(contender.get("ratioToBaseline").asDouble())
          .isEqualTo(mean / baseline.at("/mean/avgJctSeconds").asDouble());
      assertThat(contender.get("workloads")).hasSize(1);
    }
  }

  @Test
  void drawsTheLoadsOfThePoliciesThatWereNamed() throws IOException {
    Path plot = folder.resolve("loads.png");
    String[] options = {
      "--parts", "loads", "--policies", "fifo,srtf", "--load", "0.5,1", "--plot", plot.toString()
    };
    Terminal.Result result = bench(options);
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("| policy | load 0.5 | load 1.0 |", "| srtf |");
    assertThat(result.out()).doesNotContain("| gavel |");
    assertThat(ImageIO.read(plot.toFile()).getWidth()).isEqualTo(1200);
    Terminal.Result one = bench("--plot", plot.toString());
    assertThat(one.code()).isEqualTo(ExitCode.USAGE);
    assertThat(one.err()).contains("two loads or more");
  }

  private static List<List<String>> tables(String markdown) {
    return List.of(markdown.split("\n\n")).stream()
        .map(block -> block.lines().toList())
        .filter(block -> block.getFirst().startsWith("|"))
        .toList();
  }

  @Test
  void refusesBeforeItReplays() {
    Terminal.Result part = bench("--parts", "all");
    assertThat(part.code()).isEqualTo(ExitCode.USAGE);
    assertThat(part.err()).contains("there is no part 'all'", "ablation");
    Terminal.Result both = bench("--set", "pollux-1.0");
    assertThat(both.code()).isEqualTo(ExitCode.USAGE);
    assertThat(both.err()).contains("either --set or --workload");
    Terminal.Result set =
        Terminal.runPlain("bench", "policy", "--traces", folder.toString(), "--set", "helios");
    assertThat(set.code()).isEqualTo(ExitCode.USAGE);
    assertThat(set.err()).contains("there is no set 'helios'");
  }
}
