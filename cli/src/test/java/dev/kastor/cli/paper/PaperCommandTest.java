package dev.kastor.cli.paper;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.bench.Machine;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.paper.Certainty;
import dev.kastor.paper.Claim;
import dev.kastor.paper.Measured;
import dev.kastor.paper.Paper;
import dev.kastor.paper.PaperReport;
import dev.kastor.paper.Reproduction;
import dev.kastor.paper.Threshold;
import dev.kastor.paper.Trial;
import dev.kastor.paper.registry.Papers;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PaperCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path folder;

  /** A paper whose only claim is measured without work. */
  private record Known(double value) implements Paper {
    @Override
    public String name() {
      return "known";
    }

    @Override
    public String title() {
      return "Known (2026)";
    }

    @Override
    public String description() {
      return "Says what it was told.";
    }

    @Override
    public List<Claim> claims() {
      return List.of(
          Claim.of("It is 2.", "page 1", Certainty.TEXT, Threshold.atLeast("it, pieces", 2, 1)));
    }

    @Override
    public Optional<Reproduction> reproduction() {
      return Optional.of(trial -> List.of(new Measured(value, 1, 4, "seed " + trial.seed())));
    }
  }

  private static PaperReport report(double value, boolean reduced) throws Exception {
    Trial trial = new Trial(Optional.empty(), 7, reduced, 1, line -> {});
    return PaperReport.of(new Known(value), trial, InstantSource.fixed(Instant.EPOCH));
  }

  @Test
  void listsAllWithTheirState() throws Exception {
    Terminal.Result table = Terminal.runPlain("paper", "--list");
    assertThat(table.code()).isZero();
    assertThat(table.out()).contains("NAME", "pollux", "runs", "harmony", "planned");
    JsonNode papers =
        JSON.readTree(Terminal.runPlain("paper", "--list", "--json").out()).get("papers");
    assertThat(papers).hasSameSizeAs(Papers.ALL.names());
    for (JsonNode paper : papers) {
      assertThat(paper.get("name").asText()).isNotEmpty();
      assertThat(paper.get("title").asText()).isNotEmpty();
      assertThat(paper.get("state").asText()).isIn("runs", "planned");
    }
  }

  @Test
  void aPlannedPaperSaysSo() throws Exception {
    Terminal.Result result = Terminal.runPlain("paper", "rlgraph", "--json");
    assertThat(result.code()).isEqualTo(ExitCode.FAILED);
    assertThat(result.err())
        .contains("paper rlgraph is planned and cannot be run yet: Jobs have no roles");
    JsonNode paper = JSON.readTree(result.out());
    assertThat(paper.get("state").asText()).isEqualTo("planned");
    assertThat(paper.get("certainty").asText()).isEqualTo("recalled");
    assertThat(paper.has("verdict")).isFalse();
  }

  @Test
  void refusesWhatItDoesNotKnow() {
    Terminal.Result unknown = Terminal.runPlain("paper", "polux");
    assertThat(unknown.code()).isEqualTo(ExitCode.USAGE);
    assertThat(unknown.err()).contains("there is no paper 'polux'", "pollux");
    assertThat(Terminal.runPlain("paper").code()).isEqualTo(ExitCode.USAGE);
    assertThat(Terminal.runPlain("paper", "sia", "--list").code()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void missingWorkloadsAreNamedInOneLine() {
    Terminal.Result result = Terminal.runPlain("paper", "sia", "--traces", folder.toString());
    assertThat(result.code()).isEqualTo(ExitCode.FAILED);
    assertThat(result.err())
        .contains("sia: the published workloads are missing in " + folder, "KASTOR_TRACES");
  }

  @Test
  void aReportHasClaimFigureAndVerdict() throws Exception {
    JsonNode json = PaperJson.of(report(1.5, false));
    assertThat(json.get("claim").asText()).isEqualTo("It is 2.");
    assertThat(json.get("source").asText()).isEqualTo("page 1");
    assertThat(json.get("certainty").asText()).isEqualTo("text");
    assertThat(json.get("ours").asDouble()).isEqualTo(1.5);
    assertThat(json.get("verdict").asText()).isEqualTo("partly");
    assertThat(json.get("seconds").asDouble()).isZero();
    assertThat(json.get("seed").asInt()).isEqualTo(7);
    assertThat(json.at("/machine/cores").asInt()).isEqualTo(Machine.here().cores());
    assertThat(json.at("/claims/0/reproducedFrom").asDouble()).isEqualTo(2);
    assertThat(json.at("/claims/0").has("reproducedTo")).isFalse();
    assertThat(json.at("/claims/0/high").asDouble()).isEqualTo(4);
  }

  @Test
  void aTableHasThemToo() throws Exception {
    String text = String.join("\n", PaperTable.of(report(0.5, true), 200));
    assertThat(text)
        .contains("1. It is 2.", "page 1: read in the paper's text", "it, pieces", "1.000 to 4.000")
        .contains("known (reduced, so the verdict means nothing): refuted.");
  }
}
