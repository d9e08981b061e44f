package dev.kastor.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
final class BenchPolicyCommandTest {
  private static final Path TRACES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces");

  @TempDir private Path folder;

  private Terminal.Result bench(String... more) {
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
      "2",
      "--journal",
      folder.resolve("known.journal").toString()
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
        bench(
            "--parts",
            "comparison,fairness,robustness,ablation",
            "--bound",
            "--bound-slot",
            "300",
            "--json",
            json.toString());
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .contains("### Comparison", "### Fairness", "### Robustness", "### Ablation")
        .contains("| small-40 | sia |", "| small-40 | kastor, memory, live |", "| no pricing |")
        .doesNotContain("NaN");
    for (List<String> table : tables(result.out())) {
      assertThat(table.stream().map(row -> row.chars().filter(c -> c == '|').count()).distinct())
          .as(table.getFirst())
          .hasSize(1);
    }
    assertThat(tables(result.out())).hasSize(5);
    JsonNode set = new ObjectMapper().readTree(Files.readString(json)).at("/sets/0");
    assertThat(set.get("baseline").asText()).isEqualTo("sia");
    JsonNode baseline = set.at("/contenders/0");
    assertThat(baseline.get("ratioToBaseline").asDouble()).isEqualTo(1);
    double bound = set.at("/lowerBounds/0/avgJctSeconds").asDouble();
    assertThat(bound).isPositive();
    assertThat(baseline.get("ratioToBound").asDouble())
        .isEqualTo(baseline.at("/mean/avgJctSeconds").asDouble() / bound);
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
  void goesOnFromItsJournalAndPrintsTheSame() {
    Terminal.Result first = bench("--parts", "comparison");
    assertThat(first.code()).as(first.err()).isZero();
    assertThat(first.err()).contains("comparison: 6 replays, ").doesNotContain("going on");
    Terminal.Result again = bench("--parts", "comparison");
    assertThat(again.err()).contains("going on: 6 of 6 replays are done");
    assertThat(again.out()).isEqualTo(first.out());
  }

  @Test
  void showsAFailedReplayWithTheOthersAndEndsWithOne() throws IOException {
    Path endless =
        Files.writeString(
            folder.resolve("endless.csv"),
            Files.readString(TRACES.resolve("workloads/small-40.csv"))
                    .lines()
                    .limit(3)
                    .collect(Collectors.joining("\n"))
                + "\nlate,40000000,images,1,,4,256,adaptive,,completed\n");
    Path json = folder.resolve("policy.json");
    String[] options = {
      "--parts", "comparison", "--workload", endless.toString(), "--json", json.toString()
    };
    Terminal.Result result = bench(options);
    assertThat(result.code()).isEqualTo(ExitCode.FAILED);
    assertThat(result.out())
        .contains("| endless | kastor | failed: policy kastor left 1 of 2 jobs")
        .contains("| small-40 | kastor |", "### Failed replays");
    assertThat(result.err()).contains("failed: policy kastor left 1 of 2 jobs");
    JsonNode written = new ObjectMapper().readTree(Files.readString(json));
    assertThat(written.get("failed").size()).isEqualTo(6);
    assertThat(written.at("/sets/0/contenders/0/mean").isEmpty()).isTrue();
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
        Terminal.runPlain(
            "bench",
            "policy",
            "--traces",
            folder.toString(),
            "--set",
            "helios",
            "--journal",
            folder.resolve("other.journal").toString());
    assertThat(set.code()).isEqualTo(ExitCode.USAGE);
    assertThat(set.err()).contains("there is no set 'helios'");
  }
}
