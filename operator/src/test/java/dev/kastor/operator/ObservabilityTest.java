package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.operator.metrics.Metrics;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every query of the chart's dashboards and alerts names metrics and labels that exist. */
final class ObservabilityTest {
  private static final Path ROOT = Path.of(System.getProperty("kastor.root", ".."));
  private static final Path CHART = ROOT.resolve("helm/kastor");
  private static final KnownSeries SERIES = new KnownSeries(new Metrics());

  @Tag("slow")
  @TestFactory
  Stream<DynamicTest> dashboards() throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(CHART.resolve("dashboards"))) {
      files = all.sorted().toList();
    }
    assertThat(files).extracting(file -> file.getFileName().toString()).contains("overview.json");
    return files.stream()
        .map(file -> DynamicTest.dynamicTest(file.getFileName().toString(), () -> check(file)));
  }

  @Tag("slow")
  @Test
  void alertsNameWhatExistsAndHaveARunbook() throws IOException {
    JsonNode rules =
        Serialization.unmarshal(Files.readString(CHART.resolve("alerts.yaml")), JsonNode.class)
            .at("/groups/0/rules");
    String runbook = Files.readString(ROOT.resolve("docs/operations.md"));
    assertThat(rules).isNotEmpty();
    for (JsonNode rule : rules) {
      String name = rule.path("alert").asText();
      assertThat(SERIES.problems(rule.path("expr").asText())).as(name).isEmpty();
      assertThat(rule.at("/labels/severity").asText()).isIn("critical", "warning", "info");
      assertThat(rule.at("/annotations/summary").asText()).as(name).endsWith(".");
      assertThat(runbook.lines()).contains("### " + name);
    }
  }

  /** Without this, a check that lets everything pass would pass as well. */
  @Test
  void whatDoesNotExistIsFound() {
    assertThat(SERIES.problems("sum(rate(kastor_jobz[5m]))"))
        .containsExactly("there is no metric kastor_jobz");
    assertThat(SERIES.problems("kastor_jobs{queue=\"a\"}"))
        .containsExactly("kastor_jobs has no label queue");
    assertThat(SERIES.problems("sum by (queue) (kastor_jobs)"))
        .containsExactly("no metric here has a label queue");
    assertThat(SERIES.problems("kastor_decision_seconds")).isNotEmpty();
    assertThat(SERIES.problems("kastor_slots * on (pod) group_left () kastor_leader")).isEmpty();
  }

  private static void check(Path file) throws IOException {
    JsonNode dashboard = new ObjectMapper().readTree(Files.readString(file));
    List<String> queries = new ArrayList<>();
    Set<Integer> ids = new HashSet<>();
    for (JsonNode panel : dashboard.path("panels")) {
      assertThat(ids.add(panel.path("id").asInt())).as("id of %s", panel.path("title")).isTrue();
      panel.path("targets").forEach(target -> queries.add(target.path("expr").asText()));
    }
    for (JsonNode variable : dashboard.at("/templating/list")) {
      if (variable.path("type").asText().equals("query")) {
        queries.add(variable.path("query").asText());
      }
    }
    assertThat(queries).hasSizeGreaterThan(5);
    for (String query : queries) {
      assertThat(SERIES.problems(query)).as(query).isEmpty();
    }
  }
}
