package dev.kastor.simulator.tick;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.TracesJson;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.testkit.PublishedTraces;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.format.TraceFormats;
import dev.kastor.traces.measured.SiaApplications;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Replays in Sia's mode against what its simulator (SOSP 2023, artifact) was measured to give: some
 * workloads of each policy in the gate, the rest in tests tagged {@code nightly}.
 */
@Tag("slow")
final class SiaConformanceTest {
  private static final Set<String> IN_THE_GATE =
      Set.of("philly/workload-3", "saturn/workload-1", "saturn/workload-7");
  private static final double SECONDS_PER_HOUR = 3600;

  private static Map<String, Application> applications = Map.of();

  @BeforeAll
  static void readApplications() throws Exception {
    applications = SiaApplications.read(PublishedTraces.path("sia/profiles"));
  }

  private static List<JsonNode> measured(String policy, boolean inTheGate) throws Exception {
    List<JsonNode> rows = new ArrayList<>();
    for (JsonNode row : TracesJson.read("sia/baselines.json").get("rows")) {
      String workload = row.get("workload").asText();
      boolean replayed =
          row.get("source").asText().equals("measured")
              && row.get("policy").asText().equals(policy)
              && row.get("cluster").asText().equals("heterogeneous")
              && row.has("avg_jct_h")
              && workload.contains("/");
      if (replayed && IN_THE_GATE.contains(workload) == inTheGate) {
        rows.add(row);
      }
    }
    assertThat(rows).hasSizeGreaterThan(1);
    return rows;
  }

  private static Replay replay(String policy, String cluster, String name) throws Exception {
    Workload workload =
        TraceFormats.read(
            PublishedTraces.path("sia/workloads/%s.csv".formatted(name)), applications.keySet());
    return new TickSimulation(
            TickSettings.of(Mode.SIA),
            ClusterShape.parse(cluster),
            workload,
            applications,
            Policies.factory(policy, PolicyContext.published(1)),
            1,
            (seconds, done, all) -> {})
        .run();
  }

  private static final String HETEROGENEOUS = "aws=6x4,dgx-ext=2x8,rtx=3x8";

  /** Gavel depends on no fit, and its linear program has one central answer. */
  @Test
  @Tag("never-retried")
  void everyPublishedDigitOfGavelAgrees() throws Exception {
    everyDigitAgrees(measured("gavel", true));
  }

  @Test
  @Tag("nightly")
  void everyPublishedDigitOfGavelAgreesForAllOthers() throws Exception {
    everyDigitAgrees(measured("gavel", false));
  }

  private static void everyDigitAgrees(List<JsonNode> rows) throws Exception {
    for (JsonNode row : rows) {
      String workload = row.get("workload").asText();
      Replay replay = replay("gavel", HETEROGENEOUS, workload);
      assertThat(replay.averageSeconds() / SECONDS_PER_HOUR)
          .as(workload)
          .isCloseTo(row.get("avg_jct_h").asDouble(), within(6e-6));
      double[] sorted =
          replay.jobs().stream()
              .mapToDouble(Replay.Completed::completionSeconds)
              .sorted()
              .toArray();
      assertThat(sorted[(int) (0.99 * sorted.length)] / SECONDS_PER_HOUR)
          .as(workload)
          .isCloseTo(row.get("p99_jct_h").asDouble(), within(6e-5));
      assertThat(replay.makespanSeconds() / SECONDS_PER_HOUR)
          .as(workload)
          .isCloseTo(row.get("makespan_h").asDouble(), within(6e-5));
      assertThat(replay.restarts() / (double) sorted.length)
          .as(workload)
          .isCloseTo(row.get("restarts").asDouble(), within(6e-5));
      assertThat(replay.gpuHours())
          .as(workload)
          .isCloseTo(row.get("gpu_hours_incl_partial").asDouble(), within(0.011));
    }
  }

  /** Its integer programs have many equal optima, so single runs differ by a few per cent. */
  @Test
  void meanCompletionOfSiaIsNearTheMeasuredOne() throws Exception {
    meanIsNear(measured("sia", true));
  }

  @Test
  @Tag("nightly")
  void meanCompletionOfSiaIsNearTheMeasuredOneForAllOthers() throws Exception {
    meanIsNear(measured("sia", false));
  }

  private static void meanIsNear(List<JsonNode> rows) throws Exception {
    double ours = 0;
    double theirs = 0;
    for (JsonNode row : rows) {
      String workload = row.get("workload").asText();
      double average = replay("sia", HETEROGENEOUS, workload).averageSeconds() / SECONDS_PER_HOUR;
      double published = row.get("avg_jct_h").asDouble();
      assertThat(average / published).as(workload).isBetween(0.94, 1.06);
      ours += average;
      theirs += published;
    }
    assertThat(ours / theirs).isBetween(0.97, 1.03);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sia", "gavel"})
  void jobsFinishOnHomogeneousClusters(String policy) throws Exception {
    Replay homogeneous = replay(policy, "aws=16x4", "philly/workload-3");
    assertThat(homogeneous.averageSeconds())
        .isGreaterThan(replay(policy, HETEROGENEOUS, "philly/workload-3").averageSeconds());
  }

  @ParameterizedTest
  @ValueSource(strings = {"sia", "gavel"})
  @Tag("nightly")
  void jobsFinishOnScaledClusters(String policy) throws Exception {
    Replay one = replay(policy, HETEROGENEOUS, "saturn/workload-1");
    Replay four = replay(policy, "aws=24x4,dgx-ext=8x8,rtx=12x8", "scale/scale_4x/workload-1");
    assertThat(four.jobs()).hasSize(4 * one.jobs().size());
    assertThat(four.averageSeconds() / one.averageSeconds()).isBetween(0.7, 1.3);
  }
}
