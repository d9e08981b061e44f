package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.ReasonNumber;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

/** Nodes on which steps take longer than on others of their type. */
final class SlowNodesTest {
  private static final Node SLOW = new Node("slow", "a", 4).withSlowdown(2);
  private static final Node WELL = new Node("well", "a", 4);
  private static final Node OTHER = new Node("other", "a", 4);

  private static TestJob rigid(String name, int size) {
    return job(name)
        .elasticity(new Elasticity.Rigid(size))
        .model(TestJob.SCALABLE, size)
        .steps(1000, 100_000)
        .sinceChange(Duration.ofHours(1))
        .rescaleCost(Duration.ofSeconds(5));
  }

  private static Plan plan(List<Node> nodes, TestJob... jobs) {
    List<JobState> states = new ArrayList<>();
    for (TestJob job : jobs) {
      states.add(job.build());
    }
    return new KastorPolicy(TestOptions.USUAL).plan(new Snapshot(Instant.EPOCH, nodes, states));
  }

  private static Allocation given(List<Node> nodes, TestJob job) {
    return plan(nodes, job).allocation(job.build().id());
  }

  @Test
  void goodputIsDividedByTheSlowdown() {
    JobState job = rigid("a", 4).build();
    Pools pools = Pools.of(List.of(SLOW, WELL), TestOptions.USUAL);
    assertThat(Rates.rate(job, pools, 1, 4, 1) / Rates.rate(job, pools, 0, 4, 1))
        .isCloseTo(2, offset(1e-9));
  }

  @Test
  void aJobBeginsOnNodesThatAreWell() {
    assertThat(given(List.of(SLOW, WELL), rigid("a", 4))).isEqualTo(Allocation.on("well", 4));
  }

  @Test
  void aSlowNodeIsUsedWhereOthersAreNotFree() {
    TestJob first = rigid("a", 4);
    TestJob second = rigid("b", 4);
    Plan plan = plan(List.of(SLOW, WELL), first, second);
    assertThat(List.of(plan.allocation(first.build().id()), plan.allocation(second.build().id())))
        .containsExactlyInAnyOrder(Allocation.on("slow", 4), Allocation.on("well", 4));
  }

  @Test
  void aJobLeavesANodeThatHasBecomeSlowAndSaysWhy() {
    TestJob job = rigid("a", 4).on("slow", 4);
    Plan plan = plan(List.of(SLOW, WELL), job);
    assertThat(plan.allocation(job.build().id())).isEqualTo(Allocation.on("well", 4));
    assertThat(plan.reason(job.build().id()).message())
        .isEqualTo("It leaves a node on which steps take 2.0 times as long as on others.");
  }

  @Test
  void aJobThatStaysOnASlowNodeIsToldSo() {
    TestJob job = rigid("a", 4).on("slow", 4);
    Plan plan = plan(List.of(SLOW), job);
    assertThat(plan.allocation(job.build().id())).isEqualTo(Allocation.on("slow", 4));
    assertThat(ReasonNumber.SLOWDOWN.of(plan.reason(job.build().id()))).contains(2.0);
  }

  @Test
  void oneSlowNodeOfSeveralIsReplaced() {
    SequencedMap<String, Integer> held = new LinkedHashMap<>();
    held.put("well", 4);
    held.put("slow", 4);
    TestJob job = rigid("a", 8).on(new Allocation(held));
    Allocation now = given(List.of(OTHER, SLOW, WELL), job);
    assertThat(now.replicasByNode()).containsOnlyKeys("well", "other");
  }
}
