package dev.kastor.traces.measured;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.estimate.ThroughputFitter;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.BestBatch;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.testkit.PublishedTraces;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Agreement with the fits and best batches of Pollux's published simulator, on profiles of its
 * traces (the file says where they come from). Needs the traces folder: {@code KASTOR_TRACES}, by
 * default {@code ../shared/traces} beside the repository.
 */
final class ThroughputFitterConformanceTest {
  private JsonNode cases = new ObjectMapper().createArrayNode();

  @BeforeEach
  void readCases() throws IOException {
    cases =
        new ObjectMapper().readTree(PublishedTraces.path("pollux/checks/perf-fits.json").toFile());
    assertThat(cases).hasSize(40);
  }

  @Test
  void reachesTheReferenceObjectiveWithinOnePercent() {
    List<String> worse = new ArrayList<>();
    for (int i = 0; i < cases.size(); i++) {
      JsonNode reference = cases.get(i);
      double ours = ThroughputFitter.fit(profiles(reference)).objective();
      double theirs = reference.get("objective").asDouble();
      if (!(ours <= 1.01 * theirs)) {
        worse.add(
            "profile %d (%s, %d points): %.6g against %.6g"
                .formatted(
                    i,
                    reference.get("application").asText(),
                    reference.get("profile").size(),
                    ours,
                    theirs));
      }
    }
    assertThat(worse).isEmpty();
  }

  @Test
  void findsTheSameBestBatches() {
    for (JsonNode reference : cases) {
      GoodputModel model = new GoodputModel(params(reference.get("params")), gradient(reference));
      BatchLimits limits =
          new BatchLimits(
              reference.get("init_batch_size").asInt(),
              reference.get("max_batch_size").asInt(),
              reference.get("min_local_bsz").asInt(),
              reference.get("max_local_bsz").asInt(),
              true);
      for (JsonNode row : reference.get("optimize")) {
        PlacementShape shape =
            new PlacementShape(row.get("num_nodes").asInt(), row.get("num_replicas").asInt(), "");
        double expected = row.get("goodput").asDouble();
        double goodput = model.best(shape, limits).map(BestBatch::goodput).orElse(0.0);
        assertThat(goodput)
            .as("%s %s", reference.get("application").asText(), shape)
            .isCloseTo(expected, org.assertj.core.data.Offset.offset(1e-6 * expected));
      }
    }
  }

  private static GradientStats gradient(JsonNode reference) {
    return new GradientStats(
        reference.get("grad_sqr").asDouble(),
        reference.get("grad_var").asDouble(),
        reference.get("init_batch_size").asInt());
  }

  private static ThroughputParams params(JsonNode p) {
    return new ThroughputParams(
        p.get("alpha_c").asDouble(),
        p.get("beta_c").asDouble(),
        p.get("alpha_n").asDouble(),
        p.get("beta_n").asDouble(),
        p.get("alpha_r").asDouble(),
        p.get("beta_r").asDouble(),
        p.get("gamma").asDouble());
  }

  private static List<StepProfile> profiles(JsonNode reference) {
    List<StepProfile> profiles = new ArrayList<>();
    for (JsonNode row : reference.get("profile")) {
      profiles.add(
          new StepProfile(
              row.get("num_nodes").asInt(),
              row.get("num_replicas").asInt(),
              row.get("local_bsz").asInt(),
              1,
              row.get("step_time").asDouble(),
              row.get("sync_time").asDouble()));
    }
    return profiles;
  }
}
