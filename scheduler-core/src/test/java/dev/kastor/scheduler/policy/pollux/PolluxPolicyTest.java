package dev.kastor.scheduler.policy.pollux;

import static dev.kastor.scheduler.model.TestJob.job;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanCheck;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class PolluxPolicyTest {
  private static final List<Node> TWO_BY_FOUR =
      List.of(new Node("n0", "", 4), new Node("n1", "", 4));

  private static Plan plan(PolicyContext context, JobState... jobs) {
    Snapshot snapshot = new Snapshot(Instant.EPOCH, TWO_BY_FOUR, List.of(jobs));
    Plan plan = Policies.create("pollux", context).plan(snapshot);
    assertThat(PlanCheck.violations(snapshot, plan)).isEmpty();
    return plan;
  }

  private static Plan plan(JobState... jobs) {
    return plan(PolicyContext.online(1), jobs);
  }

  @Test
  void startsAnUnmeasuredJobWithOneReplica() {
    JobState job = job("a").age(Duration.ZERO).build();
    assertThat(plan(job).allocation(job.id()).replicas()).isEqualTo(1);
  }

  @Test
  void atMostDoublesWhatWasMeasured() {
    JobState job = job("a").model(TestJob.SCALABLE, 2).on("n0", 2).build();
    assertThat(plan(job).allocation(job.id()).replicas()).isEqualTo(4);
  }

  @Test
  void letsAJobKeepWhatItHoldsAfterTheHostForgotItsMeasurements() {
    JobState scalable = job("a").on("n0", 4).profiled(0).build();
    JobState other = job("b").on("n1", 2).profiled(0).build();
    Plan plan = plan(scalable, other);
    assertThat(plan.allocation(scalable.id())).isEqualTo(scalable.allocation());
    assertThat(plan.allocation(other.id())).isEqualTo(other.allocation());
  }

  @Test
  void reachesTheNextAllowedCountBeyondADoubling() {
    JobState job =
        job("a")
            .elasticity(new Elasticity.Adaptive(1, 8, new AllowedReplicas.Listed(List.of(1, 3, 8))))
            .model(TestJob.SCALABLE, 3)
            .on("n0", 3)
            .build();
    assertThat(plan(job).allocation(job.id()).replicas()).isEqualTo(8);
  }

  @Test
  void givesIdleSlotsToAJobThatGains() {
    JobState scalable = job("a").model(TestJob.SCALABLE, 8).on("n0", 1).build();
    JobState stubborn = job("b").model(TestJob.STUBBORN, 8).on("n1", 1).build();
    Plan plan = plan(scalable, stubborn);
    assertThat(plan.allocation(scalable.id()).replicas()).isGreaterThanOrEqualTo(6);
    assertThat(plan.allocation(stubborn.id()).replicas()).isEqualTo(1);
  }

  @Test
  void makesRoomForAGangThatArrives() {
    JobState running = job("a").model(TestJob.SCALABLE, 8).on("n0", 4).build();
    JobState other = job("b").model(TestJob.SCALABLE, 8).on("n1", 4).build();
    JobState gang = job("c").elasticity(new Elasticity.Rigid(4)).age(Duration.ZERO).build();
    Plan plan = plan(running, other, gang);
    assertThat(plan.allocation(gang.id()).replicas()).isEqualTo(4);
    assertThat(plan.allocation(running.id()).replicas()).isPositive();
    assertThat(plan.allocation(other.id()).replicas()).isPositive();
  }

  @Test
  void keepsAllocationWhenGainIsBelowRestartCost() {
    // Fresh and expensive to move: F = (60 - 0) / (60 + 600) leaves a tenth of any speedup.
    JobState fresh =
        job("a")
            .model(TestJob.SCALABLE, 8)
            .on("n0", 3)
            .age(Duration.ofMinutes(1))
            .rescaleCost(Duration.ofMinutes(10))
            .build();
    Plan plan = plan(fresh);
    assertThat(plan.allocation(fresh.id())).isEqualTo(fresh.allocation());
    assertThat(requireNonNull(plan.assignments().get(fresh.id())).reason().code())
        .isEqualTo("Kept");
  }

  @Test
  void isStableOnceNothingCanBeGained() {
    Policy policy = Policies.create("pollux", PolicyContext.online(5));
    JobState one = job("a").model(TestJob.SCALABLE, 8).build();
    JobState two = job("b").model(TestJob.SCALABLE, 8).build();
    Plan first = policy.plan(new Snapshot(Instant.EPOCH, TWO_BY_FOUR, List.of(one, two)));
    for (int round = 0; round < 20; round++) {
      JobState nextOne = job("a").on(first.allocation(one.id())).model(TestJob.SCALABLE, 8).build();
      JobState nextTwo = job("b").on(first.allocation(two.id())).model(TestJob.SCALABLE, 8).build();
      Plan next = policy.plan(new Snapshot(Instant.EPOCH, TWO_BY_FOUR, List.of(nextOne, nextTwo)));
      assertThat(next.allocation(one.id())).isEqualTo(first.allocation(one.id()));
      assertThat(next.allocation(two.id())).isEqualTo(first.allocation(two.id()));
    }
    assertThat(first.allocation(one.id()).replicas()).isEqualTo(4);
    assertThat(first.allocation(two.id()).replicas()).isEqualTo(4);
  }

  @Tag("slow")
  @Test
  void faithfulSearchAlsoSharesTheCluster() {
    JobState one = job("a").model(TestJob.SCALABLE, 8).build();
    JobState two = job("b").model(TestJob.SCALABLE, 8).build();
    Plan plan = plan(PolicyContext.published(3), one, two);
    assertThat(plan.allocation(one.id()).replicas()).isEqualTo(4);
    assertThat(plan.allocation(two.id()).replicas()).isEqualTo(4);
  }

  @Test
  void explainsItselfWithNumbers() {
    JobState job = job("a").model(TestJob.SCALABLE, 4).on("n0", 4).build();
    var numbers = requireNonNull(plan(job).assignments().get(job.id())).reason().numbers();
    assertThat(numbers)
        .containsKeys(
            "speedup",
            "fairShareSlots",
            "goodputBeforeExamplesPerSecond",
            "goodputAfterExamplesPerSecond",
            "changeCostSeconds",
            "reallocationFactor");
    assertThat(numbers.get("goodputAfterExamplesPerSecond"))
        .isGreaterThan(numbers.get("goodputBeforeExamplesPerSecond"));
  }
}
