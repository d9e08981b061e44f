package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.kastor.plugin.Options;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Nodes that may be taken away, beside others that are alike but for that. */
final class SpotTest {
  private static final Options USUAL = TestOptions.USUAL;

  private static Node node(String name, boolean spot, double perHour) {
    return new Node(name, "a", 4, "", spot, perHour);
  }

  private static TestJob rigid(String name, int size, int pauseSeconds) {
    return job(name)
        .elasticity(new Elasticity.Rigid(size))
        .rescaleCost(Duration.ofSeconds(pauseSeconds));
  }

  private static Plan plan(Options options, List<Node> nodes, TestJob... jobs) {
    List<JobState> states = new ArrayList<>();
    for (TestJob job : jobs) {
      states.add(job.build());
    }
    return new KastorPolicy(options).plan(new Snapshot(Instant.EPOCH, nodes, states));
  }

  private static Allocation given(Options options, List<Node> nodes, TestJob job) {
    return plan(options, nodes, job).allocation(job.build().id());
  }

  @Test
  void makesProgressForTheShareOfTimeThatInterruptionsLeave() {
    JobState job = rigid("a", 8, 60).build();
    List<Node> nodes =
        List.of(
            node("n0", false, 0), node("n1", false, 0), node("s0", true, 0), node("s1", true, 0));
    Pools pools = Pools.of(nodes, USUAL.with(KastorPlugin.INTERRUPTIONS_PER_DAY, 24.0));
    double share = Rates.rate(job, pools, 1, 8, 2) / Rates.rate(job, pools, 0, 8, 2);
    // Two nodes, one interruption an hour each, of 60 + 300 s: of 1800 + 360 s, 1800 remain.
    assertThat(share).isCloseTo(1800.0 / 2160, offset(1e-9));
  }

  @Test
  void permanentNodesWinAtEqualPrice() {
    List<Node> nodes = List.of(node("spot", true, 2), node("stays", false, 2));
    assertThat(given(USUAL, nodes, rigid("a", 4, 30))).isEqualTo(Allocation.on("stays", 4));
  }

  @Test
  void cheaperNodesWinWhereMoneyCounts() {
    List<Node> nodes = List.of(node("stays", false, 3), node("spot", true, 1));
    TestJob job = rigid("a", 4, 30);
    assertThat(given(USUAL, nodes, job)).isEqualTo(Allocation.on("stays", 4));
    assertThat(given(USUAL.with(KastorPlugin.JOB_HOUR_VALUE, 20.0), nodes, job))
        .isEqualTo(Allocation.on("spot", 4));
  }

  @Test
  void jobThatIsCheapToInterruptTakesThem() {
    List<Node> nodes = List.of(node("spot", true, 0), node("stays", false, 0));
    for (boolean slowFirst : new boolean[] {true, false}) {
      TestJob slow = rigid(slowFirst ? "a" : "b", 4, 200);
      TestJob quick = rigid(slowFirst ? "b" : "a", 4, 2);
      Plan plan = slowFirst ? plan(USUAL, nodes, slow, quick) : plan(USUAL, nodes, quick, slow);
      assertThat(plan.allocation(slow.build().id())).isEqualTo(Allocation.on("stays", 4));
      assertThat(plan.allocation(quick.build().id())).isEqualTo(Allocation.on("spot", 4));
    }
  }

  @Test
  void jobOnFewNodesTakesThem() {
    List<Node> nodes =
        List.of(
            node("s0", true, 0), node("s1", true, 0), node("n0", false, 0), node("n1", false, 0));
    for (boolean largeFirst : new boolean[] {true, false}) {
      TestJob large = rigid(largeFirst ? "a" : "b", 8, 30);
      TestJob small = rigid(largeFirst ? "b" : "a", 4, 30);
      Plan plan = largeFirst ? plan(USUAL, nodes, large, small) : plan(USUAL, nodes, small, large);
      assertThat(plan.allocation(large.build().id()).replicasByNode()).containsOnlyKeys("n0", "n1");
      assertThat(plan.allocation(small.build().id()).replicasByNode()).containsOnlyKeys("s0");
    }
  }

  @Test
  void jobsAreNotMovedAwayForTheRiskAlone() {
    List<Node> nodes = List.of(node("spot", true, 1), node("stays", false, 1));
    TestJob runs = rigid("a", 4, 30).on("spot", 4).sinceChange(Duration.ofHours(1));
    assertThat(given(USUAL, nodes, runs)).isEqualTo(Allocation.on("spot", 4));
    // Five an hour, of 330 s each, are another matter.
    assertThat(given(USUAL.with(KastorPlugin.INTERRUPTIONS_PER_DAY, 120.0), nodes, runs))
        .isEqualTo(Allocation.on("stays", 4));
  }

  @Test
  void whatAnInterruptionCostsIsSeenWhenItChanges() {
    List<Node> nodes = List.of(node("spot", true, 0), node("stays", false, 0));
    OfferBook book = new OfferBook(USUAL);
    Pools pools = Pools.of(nodes, TestOptions.USUAL);
    Offers quick = book.of(List.of(rigid("a", 4, 2).build()), pools)[0];
    Offers slow = book.of(List.of(rigid("a", 4, 200).build()), pools)[0];
    assertThat(slow.rate()[slow.find(0, 4)]).isLessThan(quick.rate()[quick.find(0, 4)]);
    assertThat(slow.rate()[slow.find(1, 4)]).isEqualTo(quick.rate()[quick.find(1, 4)]);
  }
}
