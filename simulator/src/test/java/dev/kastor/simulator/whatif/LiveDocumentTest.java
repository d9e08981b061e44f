package dev.kastor.simulator.whatif;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.LayoutFactors;
import dev.kastor.scheduler.goodput.NoiseCurve;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.live.LiveDocument;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.StopPolicy;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The document through the library that operator and command write and read it with. */
final class LiveDocumentTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00.123456789Z");
  private static final ObjectMapper JSON = new ObjectMapper();

  private static LiveCluster throughJson(LiveCluster cluster) throws IOException {
    String text = JSON.writeValueAsString(LiveDocument.of(cluster));
    return JSON.readValue(text, LiveDocument.class).cluster();
  }

  private static GoodputModel model() {
    SequencedMap<String, ThroughputParams> params = new LinkedHashMap<>();
    params.put("t4", new ThroughputParams(0.1, 1.0 / 3, 0.01, 1e-9, 0.2, 0.3, 1.7));
    params.put("", new ThroughputParams(0.2, 0.1, 0, 0, 0, 0, 1));
    SequencedMap<LayoutFactors.Layout, Double> layouts = new LinkedHashMap<>();
    layouts.put(new LayoutFactors.Layout(2, 4), 1.1);
    layouts.put(new LayoutFactors.Layout(1, 2), 0.9);
    SequencedMap<String, LayoutFactors> factors = new LinkedHashMap<>();
    factors.put("t4", new LayoutFactors(layouts, new TreeMap<>(Map.of(3, 1.25))));
    return new GoodputModel(params, factors, new GradientStats(0.7, 1234.5, 64));
  }

  private static LiveJob job(String name, Elasticity elasticity, Allocation allocation) {
    SequencedMap<String, GpuTraits> types = new LinkedHashMap<>();
    types.put("t4", new GpuTraits(new BatchLimits(64, 512, 1, 64, true), 2, 3.5, 7));
    types.put("a100", new GpuTraits(new BatchLimits(64, 1024, 2, 128, false, 128), 1, 0));
    JobSpec spec =
        new JobSpec(
            new JobId("team-ä", name),
            NOW.minusSeconds(1),
            "family",
            elasticity,
            elasticity.min(),
            new BatchLimits(64, 512, 1, 64, true, 256),
            "t4",
            types,
            "research",
            -3,
            2,
            Map.of("t4", 17),
            1e6);
    double[] noise = new double[NoiseCurve.BUCKETS];
    for (int i = 0; i < noise.length; i++) {
      noise[i] = Math.log(100 + i);
    }
    return new LiveJob(
        new JobState(
            spec,
            allocation,
            Optional.of(model()),
            3,
            Optional.of(new Progress(10, 7.25, 1e6, 640, 2)),
            Duration.ofNanos(1_234_567_890_123L),
            12.5,
            4,
            Duration.ofMillis(1500),
            Duration.ofSeconds(31),
            Duration.ofSeconds(29),
            Duration.ofSeconds(77),
            Duration.ofSeconds(5),
            true,
            true,
            new Outlook(Optional.of(new NoiseCurve(noise, 5, 64)), List.of(1.5, 2.5), 0.75),
            Optional.empty()),
        true);
  }

  @Test
  void nothingIsLostOrRoundedOnTheWay() throws IOException {
    SequencedMap<String, Integer> nodes = new LinkedHashMap<>();
    nodes.put("z", 1);
    nodes.put("a", 2);
    AllowedReplicas listed = new AllowedReplicas.Listed(List.of(1, 3));
    LiveCluster cluster =
        new LiveCluster(
            NOW,
            "kastor:hold=1000",
            7,
            Duration.ofSeconds(30),
            Duration.ofMillis(100),
            List.of(new Node("a", "t4", 8, "r1", true, 3.25), new Node("z", "", 4).withSharing(2)),
            Map.of(
                "research",
                new Queue(
                        "research",
                        2.5,
                        "cohort",
                        Optional.of(new Quota(8, 2, Quota.UNLIMITED)),
                        StopPolicy.HOLD,
                        true)
                    .stopped(Reason.of("BudgetSpent", "It is spent."), NOW.plusSeconds(60)),
                "",
                new Queue("")),
            List.of(
                job("a", new Elasticity.Adaptive(1, 8, listed), new Allocation(nodes, 2)),
                job(
                    "b",
                    new Elasticity.Elastic(2, 8, new AllowedReplicas.PowersOfTwo()),
                    Allocation.NONE),
                job(
                    "c",
                    new Elasticity.Restarting(2, 8, new AllowedReplicas.Any()),
                    Allocation.on("a", 2)),
                job("d", new Elasticity.Rigid(3), Allocation.NONE),
                Live.waits("plain", 5)),
            3);
    LiveCluster read = throughJson(cluster);
    assertThat(read).isEqualTo(cluster);
    assertThat(read.jobs().getFirst().state().allocation().node(0)).isEqualTo("z");
    assertThat(read.snapshot()).isEqualTo(cluster.snapshot());
  }

  @Test
  void anOlderOperatorSaysNothingOfStarts() throws IOException {
    LiveCluster cluster = Live.cluster(List.of(1), Live.waits("plain", 5));
    String text = JSON.writeValueAsString(LiveDocument.of(cluster));
    String older = text.replaceAll("\"startCost\":\"[^\"]*\",", "");
    assertThat(older).isNotEqualTo(text);
    JobState state = JSON.readValue(older, LiveDocument.class).cluster().jobs().getFirst().state();
    assertThat(state.startCost()).isEqualTo(state.restartCost());
  }

  @Test
  void anotherFormIsRefused() {
    assertThatThrownBy(() ->
            JSON.readValue(
                JSON.writeValueAsString(LiveDocument.of(Live.cluster(List.of(1))))
                    .replace("snapshot/v1", "snapshot/v9"),
                LiveDocument.class))
        .hasMessageContaining("snapshot/v9");
  }
}
