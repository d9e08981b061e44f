package dev.kastor.paper.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.paper.Claim;
import dev.kastor.paper.Paper;
import dev.kastor.paper.Threshold;
import dev.kastor.testkit.GoldenFile;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Promises of every paper, and the page that lists them.
 *
 * <p>Run with {@code -Dkastor.golden.write=true} to rewrite the page after changing a paper.
 */
final class PapersTest {
  private static final String BEGIN =
      "<!-- Below is generated from the papers by PapersTest; do not edit. -->";

  static List<Paper> papers() {
    return Papers.ALL.all();
  }

  @Test
  void allSystemsThatKastorWillHostAreThere() {
    assertThat(Papers.ALL.names())
        .contains("tensorflow", "control-flow", "eager", "tensorflow-js", "pollux", "sia")
        .contains("3lc", "p3", "tictac", "blueconnect", "adacomm", "aggregathor")
        .contains("graphpipe", "flexflow", "metaflow", "bn-restructuring", "harmony")
        .contains("rnn-serving", "selective-backprop", "mltuner", "yellowfin", "dropback")
        .contains("biggraph", "ternary-trees", "compress-or-not", "discrete-attacks")
        .contains("data-validation", "easeml-ci", "rlgraph", "federated", "filterforward")
        .contains("adascale-video", "catdet")
        .doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @MethodSource("papers")
  void onlyWhatCanBeRunHasThresholds(Paper paper) {
    assertThat(paper.claims()).isNotEmpty();
    assertThat(paper.description()).endsWith(".").hasSizeLessThan(300);
    for (Claim claim : paper.claims()) {
      assertThat(claim.sentence()).endsWith(".");
      assertThat(claim.threshold().isPresent())
          .as("%s: %s", paper.name(), claim.sentence())
          .isEqualTo(paper.reproduction().isPresent());
    }
    assertThat(paper.state()).isEqualTo(paper.measured().isEmpty() ? "planned" : "runs");
  }

  @Test
  void thePageIsWhatThePapersSay() throws IOException {
    String above = GoldenFile.ofRepository("docs/papers.md").holdsBelow(BEGIN, page());
    for (Paper paper : papers()) {
      if (paper.reproduction().isPresent()) {
        assertThat(above).as("figures").contains("`%s`".formatted(paper.name()));
      }
    }
  }

  private static String page() {
    StringBuilder text = new StringBuilder("\n## Claims\n");
    for (Paper paper : papers()) {
      text.append("\n### ").append(paper.name()).append("\n\n");
      text.append("%s: %s. %s\n".formatted(paper.title(), paper.state(), paper.description()));
      text.append("\n| claim | source | measured | reproduced | refuted |\n");
      text.append("|---|---|---|---|---|\n");
      for (Claim claim : paper.claims()) {
        text.append(
            "| %s | %s; %s | %s |\n"
                .formatted(
                    claim.sentence(),
                    claim.source(),
                    claim.certainty().sentence(),
                    claim.threshold().map(PapersTest::limits).orElse("– | – | –")));
      }
    }
    return text.toString();
  }

  private static String limits(Threshold threshold) {
    return "%s | %s | %s"
        .formatted(threshold.quantity(), threshold.reproduced(), threshold.refuted());
  }
}
