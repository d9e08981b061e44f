package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.plugin.Options;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanCheck;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What nodes cost, against what waiting costs. */
final class MoneyTest {
  private static final int SCENES = 1000;
  private static final Options USUAL = TestOptions.USUAL;

  private static Node priced(String name, int slots, double perSlotHour) {
    return new Node(name, "a", slots, "", false, slots * perSlotHour);
  }

  private static Plan plan(Options options, List<Node> nodes, TestJob job) {
    return new KastorPolicy(options).plan(new Snapshot(Instant.EPOCH, nodes, List.of(job.build())));
  }

  private static Allocation given(Options options, List<Node> nodes, TestJob job) {
    Plan plan = plan(options, nodes, job);
    return plan.allocation(job.build().id());
  }

  @Test
  void cheaperOfEqualNodesWins() {
    List<Node> nodes = List.of(priced("dear", 4, 2), priced("cheap", 4, 1));
    assertThat(given(USUAL, nodes, job("a").replicas(1, 4))).isEqualTo(Allocation.on("cheap", 4));
  }

  @Test
  void moneyAloneTakesNoGpuFromAJobUnlessTimeHasAPrice() {
    List<Node> nodes = List.of(priced("dear", 4, 1000), priced("cheap", 2, 1));
    assertThat(given(USUAL, nodes, job("a").replicas(1, 4))).isEqualTo(Allocation.on("dear", 4));
  }

  /**
   * A job never measured runs at {@code r^0.8}; with GPUs of 1 in an hour its time and money are
   * {@code (1 + r / value) / r^0.8}: for 1, 2 and 4 GPUs 2, 1.72 and 1.65 at 1; 3, 2.87 and 2.97 at
   * 1/2; 5, 5.17 and 5.61 at 1/4.
   */
  @ParameterizedTest
  @CsvSource({"1, 4", "0.5, 2", "0.25, 1"})
  void takesTheSizeWhoseTimeAndMoneyAreLeast(double jobHourValue, int size) {
    List<Node> nodes = List.of(priced("node", 8, 1));
    Options options = USUAL.with(KastorPlugin.JOB_HOUR_VALUE, jobHourValue);
    TestJob waits = job("a").replicas(1, 8);
    assertThat(given(options, nodes, waits)).isEqualTo(Allocation.on("node", size));
    TestJob runs =
        waits.on("node", 4).sinceChange(Duration.ofHours(1)).rescaleCost(Duration.ofMillis(1));
    assertThat(given(options, nodes, runs)).isEqualTo(Allocation.on("node", size));
  }

  @Test
  void saysThatMoneyIsWhy() {
    List<Node> nodes = List.of(priced("node", 8, 1));
    TestJob runs =
        job("a")
            .replicas(1, 8)
            .on("node", 4)
            .sinceChange(Duration.ofHours(1))
            .rescaleCost(Duration.ofMillis(1));
    Reason reason =
        plan(USUAL.with(KastorPlugin.JOB_HOUR_VALUE, 0.25), nodes, runs).reason(runs.build().id());
    assertThat(reason.code()).isEqualTo("Shrunk");
    assertThat(reason.message()).contains("money");
    assertThat(reason.numbers())
        .containsEntry("moneyPerHour", 1.0)
        .containsEntry("moneyPerSlot", 4.0);
  }

  @ParameterizedTest
  @ValueSource(doubles = {1, 0.1, 0.001})
  void everyJobIsWorthItsSmallestCostHoweverDear(double jobHourValue) {
    List<Node> nodes = List.of(priced("node", 8, 10));
    Options options = USUAL.with(KastorPlugin.JOB_HOUR_VALUE, jobHourValue);
    TestJob waits = job("a").replicas(1, 8).rescaleCost(Duration.ofSeconds(250));
    assertThat(given(options, nodes, waits).isEmpty()).isFalse();
    TestJob runs = waits.on("node", 4).sinceChange(Duration.ofHours(1));
    assertThat(given(options, nodes, runs).isEmpty()).isFalse();
  }

  @Test
  void nodesThatStrangersShareStayWithTheirLike() {
    Pools pools =
        Pools.of(
            List.of(new Node("n0", "a", 4, "", false, 12), new Node("n1", "a", 1, "", false, 12)),
            USUAL);
    assertThat(pools.count()).isEqualTo(1);
    assertThat(pools.kinds().getFirst().pricePerSlotHour()).isEqualTo(3);
  }

  @Tag("slow")
  @Test
  void equalPricesChangeNothing() {
    int compared = 0;
    for (int seed = 0; seed < SCENES; seed++) {
      Snapshot snapshot = RandomScene.of(seed);
      Plan free = new KastorPolicy(USUAL).plan(repriced(snapshot, 0));
      Plan priced = new KastorPolicy(USUAL).plan(repriced(snapshot, 3));
      Options counting =
          USUAL
              .with(KastorPlugin.JOB_HOUR_VALUE, 1e-3)
              .with(KastorPlugin.INTERRUPTIONS_PER_DAY, 50.0);
      Plan counted = new KastorPolicy(counting).plan(repriced(snapshot, 0));
      for (JobState job : snapshot.jobs()) {
        assertSame(seed, job, free, priced);
        assertSame(seed, job, free, counted);
        compared += free.allocation(job.id()).isEmpty() ? 0 : 1;
      }
    }
    assertThat(compared).isGreaterThan(SCENES);
  }

  private static void assertSame(int seed, JobState job, Plan expected, Plan actual) {
    assertThat(actual.allocation(job.id()))
        .as("seed %d %s", seed, job.id())
        .isEqualTo(expected.allocation(job.id()));
    Map<String, Double> numbers = new LinkedHashMap<>(actual.reason(job.id()).numbers());
    numbers.remove("moneyPerHour");
    assertThat(numbers).isEqualTo(expected.reason(job.id()).numbers());
  }

  /** The same with permanent nodes whose slots all have one price; no slot has none. */
  private static Snapshot repriced(Snapshot snapshot, double perSlotHour) {
    List<Node> nodes =
        snapshot.nodes().stream()
            .filter(node -> node.slots() > 0)
            .map(node ->
                new Node(
                    node.name(),
                    node.gpuType(),
                    node.slots(),
                    node.rack(),
                    false,
                    node.slots() * perSlotHour))
            .toList();
    return new Snapshot(snapshot.now(), nodes, snapshot.jobs(), snapshot.queues());
  }

  @Tag("slow")
  @Test
  void plansStayValidAndNeverWorseThanKeepingWhateverTimeIsWorth() {
    int settled = 0;
    for (int seed = 0; seed < SCENES; seed++) {
      Snapshot snapshot = RandomScene.of(seed);
      Options options = USUAL.with(KastorPlugin.JOB_HOUR_VALUE, Math.pow(10, seed % 7 - 3));
      Decision decision = new KastorPolicy(options).decide(snapshot);
      assertThat(PlanCheck.violations(snapshot, decision.plan())).as("seed %d", seed).isEmpty();
      List<Bid> open = decision.bids().stream().filter(b -> !decision.fixed().contains(b)).toList();
      if (KastorChangesTest.stands(snapshot)) {
        double kept = Draft.ofHeld(open);
        assertThat(decision.draft().value())
            .as("seed %d", seed)
            .isGreaterThanOrEqualTo(kept - 1e-9 * Math.abs(kept));
        settled++;
      }
    }
    assertThat(settled).isGreaterThan(SCENES / 5);
  }
}
