package dev.kastor.simulator.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.report.RunsJson;
import dev.kastor.traces.TraceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class SimulateTest {
  private static final Path TRACES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces");
  private static final String HEADER =
      "name,submitSeconds,application,minReplicas,maxReplicas,requestedReplicas\n";

  @TempDir private Path folder;

  private static Run run(String workload, String policy, long seed) {
    return run(workload, policy, seed, "4x4");
  }

  private static Run run(String workload, String policy, long seed, String cluster) {
    return new Run(
        Mode.EVENTS,
        TRACES.resolve("profiles/kastor.csv"),
        workload,
        ClusterShape.parse(cluster),
        Policies.choose(policy),
        seed,
        Duration.ofSeconds(60),
        1,
        Conditions.PLAIN);
  }

  private static String burst() {
    return TRACES.resolve("workloads/burst-8.csv").toString();
  }

  private static List<Outcome> replay(int threads, Run... runs) throws Exception {
    return Simulate.prepare(List.of(runs)).all(threads, RunListener.NONE);
  }

  private static String withoutCosts(List<Outcome> outcomes) {
    List<ObjectNode> runs = new ArrayList<>();
    outcomes.forEach(outcome -> runs.add(RunsJson.run(outcome, false)));
    return runs.toString();
  }

  @Tag("slow")
  @Test
  @Tag("never-retried")
  void sameSeedGivesTheSameBytesOnAnyNumberOfThreads() throws Exception {
    Run[] runs = {
      run(burst(), "pollux", 1),
      run(burst(), "tiresias", 1),
      run(burst(), "optimus", 1),
      run(burst(), "pollux", 2)
    };
    String alone = withoutCosts(replay(1, runs));
    assertThat(withoutCosts(replay(3, runs))).isEqualTo(alone);
    assertThat(withoutCosts(replay(1, run(burst(), "pollux", 1))))
        .isNotEqualTo(withoutCosts(replay(1, run(burst(), "pollux", 2))));
  }

  @Test
  void namesTheWorkloadByItsPathAndFollowsTheContract() throws Exception {
    Outcome outcome = replay(1, run(burst(), "tiresias", 7)).getFirst();
    JsonNode json = new ObjectMapper().readTree(RunsJson.of(List.of(outcome))).at("/runs/0");
    assertThat(json.get("workload").asText()).isEqualTo(burst());
    assertThat(json.get("policy").asText()).isEqualTo("tiresias");
    assertThat(json.get("mode").asText()).isEqualTo("events");
    assertThat(json.get("seed").asLong()).isEqualTo(7);
    assertThat(json.get("jobs").asInt()).isEqualTo(8);
    double sum = 0;
    for (JsonNode seconds : json.get("jct")) {
      sum += seconds.asDouble();
    }
    assertThat(json.get("jct").size()).isEqualTo(8);
    assertThat(json.get("avgJctSeconds").asDouble()).isCloseTo(sum / 8, within());
    assertThat(json.get("p50JctSeconds").asDouble())
        .isLessThanOrEqualTo(json.get("p90JctSeconds").asDouble());
    assertThat(json.get("p90JctSeconds").asDouble())
        .isLessThanOrEqualTo(json.get("p99JctSeconds").asDouble());
    assertThat(json.get("makespanSeconds").asDouble()).isPositive();
    assertThat(json.get("restarts").isInt()).isTrue();
    assertThat(json.get("gpuHours").asDouble()).isPositive();
    assertThat(json.get("cpuSeconds").asDouble()).isPositive();
    assertThat(json.at("/decisionMillis/mean").asDouble()).isPositive();
    assertThat(json.at("/decisionMillis/p99").asDouble())
        .isLessThanOrEqualTo(json.at("/decisionMillis/max").asDouble());
    assertThat(json.at("/finishTimeFairness/worst").asDouble()).isPositive();
  }

  @Tag("slow")
  @Test
  void saysWhatWasSpentWhereNodesHavePrices() throws Exception {
    Outcome outcome =
        replay(1, run(burst(), "kastor", 1, "1x4:price=8,1x4:price=3:spot")).getFirst();
    JsonNode money = new ObjectMapper().readTree(RunsJson.of(List.of(outcome))).at("/runs/0/money");
    double sum = 0;
    for (JsonNode spent : money.get("byJob")) {
      sum += spent.asDouble();
    }
    assertThat(money.get("jobs").asDouble()).isPositive().isCloseTo(sum, within());
    assertThat(money.get("perJob").asDouble()).isCloseTo(sum / 8, within());
    assertThat(money.get("nodes").asDouble()).isGreaterThan(sum);
    Outcome free = replay(1, run(burst(), "kastor", 1, "2x4")).getFirst();
    assertThat(RunsJson.run(free, false).has("money")).isFalse();
  }

  @Test
  void refusesAJobThatNoKindOfNodeHasRoomFor() throws Exception {
    String wide =
        Files.writeString(folder.resolve("wide.csv"), HEADER + "a,0,digits,8,8,8\n").toString();
    assertThatThrownBy(() -> Simulate.prepare(List.of(run(wide, "kastor", 1, "1x4,1x4:spot"))))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining("wide.csv")
        .hasMessageContaining("has 4");
    Simulate.prepare(List.of(run(wide, "kastor", 1, "1x4,1x4")));
  }

  @Test
  void knowsPricesInModeEventsOnly() {
    assertThatThrownBy(() ->
            new Run(
                Mode.POLLUX,
                TRACES.resolve("profiles/kastor.csv"),
                burst(),
                ClusterShape.parse("4x4:spot"),
                Policies.choose("kastor"),
                1,
                Duration.ofSeconds(60),
                1,
                Conditions.PLAIN))
        .hasMessageContaining("mode pollux knows no prices, spot nodes or racks")
        .hasMessageContaining("4x4:spot");
  }

  private static Offset<Double> within() {
    return Offset.offset(1e-6);
  }

  @Tag("slow")
  @Test
  void sizesThatAdaptBeatStaticOnes() throws Exception {
    String mixed = TRACES.resolve("workloads/mixed-40.csv").toString();
    List<Outcome> outcomes = replay(2, run(mixed, "fifo", 1), run(mixed, "pollux", 1));
    assertThat(outcomes.get(1).replay().averageSeconds())
        .isLessThan(outcomes.get(0).replay().averageSeconds());
    assertThat(outcomes.get(1).fairness().worst()).isLessThan(outcomes.get(0).fairness().worst());
  }

  @Test
  void aJobAloneTakesAsLongAsAloneAndWithAnotherLonger() throws Exception {
    String one =
        Files.writeString(folder.resolve("one.csv"), HEADER + "a,0,digits,1,1,1\n").toString();
    Outcome alone = replay(1, run(one, "fifo", 1)).getFirst();
    // The time alone knows the best batch from the first step; the job keeps the one it was given.
    assertThat(alone.fairness().worst()).isBetween(0.99, 3.0);
    StringBuilder many = new StringBuilder(HEADER);
    for (int i = 0; i < 20; i++) {
      many.append("j%d,0,digits,16,16,16\n".formatted(i));
    }
    String queue = Files.writeString(folder.resolve("queue.csv"), many).toString();
    Fairness fairness = replay(1, run(queue, "fifo", 1)).getFirst().fairness();
    assertThat(fairness.ratios().getLast()).isGreaterThan(fairness.ratios().getFirst());
  }

  @Tag("slow")
  @Test
  void familyMemoryIsOffUnlessAskedForAndStatedInResults() throws Exception {
    Run alone = run(TRACES.resolve("workloads/mixed-40.csv").toString(), "pollux", 1);
    Run together =
        new Run(
            alone.mode(),
            alone.profiles(),
            alone.workload(),
            alone.cluster(),
            alone.policy(),
            alone.seed(),
            alone.round(),
            alone.load(),
            alone.conditions(),
            true);
    List<Outcome> outcomes = replay(1, alone, together, together);
    assertThat(outcomes.get(1).replay().averageSeconds())
        .isLessThan(outcomes.get(0).replay().averageSeconds());
    assertThat(outcomes.get(2).replay().jobs()).isEqualTo(outcomes.get(1).replay().jobs());
    assertThat(RunsJson.run(outcomes.get(0), false).has("familyMemory")).isFalse();
    assertThat(RunsJson.run(outcomes.get(1), false).get("familyMemory").asBoolean()).isTrue();
    assertThat(together.withSeed(2).familyMemory()).isTrue();
  }

  @Test
  void aHigherLoadBringsJobsSooner() throws Exception {
    Run plain = run(burst(), "fifo", 1);
    Run dense =
        new Run(
            plain.mode(),
            plain.profiles(),
            plain.workload(),
            plain.cluster(),
            plain.policy(),
            plain.seed(),
            plain.round(),
            2,
            plain.conditions());
    List<Outcome> outcomes = replay(1, plain, dense);
    double last = outcomes.get(0).replay().jobs().getLast().submitSeconds();
    assertThat(last).isPositive();
    assertThat(outcomes.get(1).replay().jobs().getLast().submitSeconds()).isEqualTo(last / 2);
  }

  @Test
  void refusesAJobThatNeverFitsBeforeAnyReplay() throws Exception {
    Path file = folder.resolve("big.csv");
    Files.writeString(file, HEADER + "small,0,digits,1,8,1\nhuge,5,digits,17,32,32\n");
    assertThatThrownBy(() ->
            Simulate.prepare(List.of(run(burst(), "fifo", 1), run(file.toString(), "pollux", 1))))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining(file + ", line 3: job 'huge' needs at least 17 GPUs")
        .hasMessageContaining("cluster 4x4 has 16");
    Files.writeString(file, HEADER + "wide,0,digits,1,16,16\n");
    assertThatThrownBy(() -> Simulate.prepare(List.of(run(file.toString(), "fifo", 1, "2x4"))))
        .hasMessageContaining("line 2: job 'wide' needs its 16 GPUs under policy fifo");
    assertThat(replay(1, run(file.toString(), "pollux", 1, "2x4"))).hasSize(1);
  }

  @Test
  void listsThePoliciesAndApplicationsThereAre() throws Exception {
    assertThatThrownBy(() -> Simulate.prepare(List.of(run(burst(), "best", 1))))
        .hasMessageContaining("no policy 'best'")
        .hasMessageContaining("pollux, fifo");
    Path file = folder.resolve("strange.csv");
    Files.writeString(file, HEADER + "a,0,chess,1,8,1\n");
    assertThatThrownBy(() -> Simulate.prepare(List.of(run(file.toString(), "fifo", 1))))
        .hasMessageContaining(file.toString())
        .hasMessageContaining("line 2")
        .hasMessageContaining("chess")
        .hasMessageContaining("digits");
  }

  @Test
  void aFailureOfOneRunStopsAll() throws Exception {
    Simulate simulate =
        Simulate.prepare(List.of(run(burst(), "fifo", 1), run(burst(), "tiresias", 1)));
    RunListener angry =
        new RunListener() {
          @Override
          public void at(int run, double seconds, int done, int all) {
            throw new IllegalStateException("no more");
          }

          @Override
          public void finished(int run, Outcome outcome) {}
        };
    assertThatThrownBy(() -> simulate.all(2, angry)).hasMessage("no more");
  }

  /** A trace's durations hold under the rules of time of each published simulator as well. */
  @ParameterizedTest
  @EnumSource(
      value = Mode.class,
      names = {"EVENTS", "POLLUX"})
  void aJobWhoseDurationIsKnownTakesThatLongAlone(Mode mode) throws Exception {
    Path workload =
        Files.writeString(
            folder.resolve("durations.csv"),
            HEADER.strip()
                + ",globalBatch,category,durationSeconds,outcome\n"
                + "short,0,images,1,1,1,128,rigid,3000,completed\n"
                + "long,0,images,1,1,1,128,rigid,30000,completed\n");
    Run run =
        new Run(
            mode,
            TRACES.resolve("profiles/kastor.csv"),
            workload.toString(),
            ClusterShape.parse("4x4"),
            Policies.choose("fifo"),
            1,
            Duration.ofSeconds(60),
            1,
            Conditions.PLAIN);
    Outcome outcome = replay(1, run).getFirst();
    assertThat(outcome.replay().averageSeconds()).isCloseTo(16_500, Offset.offset(200.0));
  }
}
