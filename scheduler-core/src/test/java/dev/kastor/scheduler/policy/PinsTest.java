package dev.kastor.scheduler.policy;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.StopPolicy;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Pins;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanCheck;
import dev.kastor.scheduler.policy.registry.Policies;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Pins against quotas, lenders and priorities, on a cluster of two nodes with four GPUs each. */
final class PinsTest {
  private static final Allocation ALL = new Allocation(new TreeMap<>(Map.of("n0", 4, "n1", 4)));

  static Stream<String> names() {
    return Policies.names().stream();
  }

  private static TestJob runs(String name) {
    return job(name)
        .replicas(1, 8)
        .model(TestJob.SCALABLE, 8)
        .steps(10, 1_000_000)
        .sinceChange(Duration.ofHours(1));
  }

  private static Map<String, Queue> cohort(boolean pinsAlwaysHold) {
    Optional<Quota> quota = Optional.of(new Quota(4));
    return Map.of(
        "a", new Queue("a", 1, "c", quota, StopPolicy.NONE, pinsAlwaysHold),
        "b", new Queue("b", 1, "c", quota, StopPolicy.NONE));
  }

  private static Pins pins(Map<String, Queue> queues, Set<JobState> asked, JobState... jobs) {
    List<Node> nodes = List.of(new Node("n0", "a", 4), new Node("n1", "a", 4));
    Set<JobId> ids = asked.stream().map(JobState::id).collect(Collectors.toSet());
    return Pins.of(new Snapshot(Instant.EPOCH, nodes, List.of(jobs), queues), ids);
  }

  private static Plan plan(String policy, Pins pins) {
    Plan plan = Policies.create(policy, PolicyContext.online(1)).plan(pins.snapshot());
    assertThat(PlanCheck.violations(pins.snapshot(), plan)).isEmpty();
    return plan;
  }

  @ParameterizedTest
  @MethodSource("names")
  void aPinKeepsNothingFromTheLender(String policy) {
    JobState borrower = runs("borrower").queue("a").on(ALL).build();
    JobState lender =
        job("lender").elasticity(new Elasticity.Rigid(4)).queue("b").priority(-5).build();
    Pins pins = pins(cohort(false), Set.of(borrower), borrower, lender);
    assertThat(pins.broken().get(borrower.id()))
        .isEqualTo("pinned jobs of queue a hold 8 GPUs together with it, and the quota is 4");
    assertThat(plan(policy, pins).allocation(lender.id()).replicas()).isEqualTo(4);
  }

  @ParameterizedTest
  @MethodSource("names")
  void aPinHoldsWithinItsQuota(String policy) {
    JobState pinned = runs("pinned").queue("a").on("n0", 3).build();
    JobState borrower = runs("borrower").queue("a").on("n1", 4).build();
    JobState lender = job("lender").elasticity(new Elasticity.Rigid(4)).queue("b").build();
    Pins pins = pins(cohort(false), Set.of(pinned), pinned, borrower, lender);
    assertThat(pins.broken()).isEmpty();
    Plan plan = plan(policy, pins);
    assertThat(plan.allocation(pinned.id())).isEqualTo(pinned.allocation());
    assertThat(plan.allocation(lender.id()).replicas()).isEqualTo(4);
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("names")
  void theQueueMayLetPinsHoldAlways(String policy) {
    JobState borrower = runs("borrower").queue("a").on(ALL).build();
    JobState lender = job("lender").queue("b").priority(1000).build();
    Pins pins = pins(cohort(true), Set.of(borrower), borrower, lender);
    assertThat(plan(policy, pins).allocation(borrower.id())).isEqualTo(ALL);
  }

  @Test
  void aPinKeepsNothingFromAHigherPriority() {
    JobState low = runs("low").priority(-1000).on(ALL).build();
    JobState high = runs("high").elasticity(new Elasticity.Rigid(8)).priority(-999).build();
    Pins pins = pins(Map.of(), Set.of(low), low, high);
    assertThat(pins.broken().get(low.id()))
        .isEqualTo("a job of a higher priority than -1000 may use its GPUs");
    assertThat(plan("kastor", pins).allocation(high.id()).replicas()).isEqualTo(8);
  }

  @Test
  void aHigherPriorityThatRunsGrowsAgainstAPin() {
    JobState low = runs("low").on(new Allocation(new TreeMap<>(Map.of("n1", 4)))).build();
    JobState high = runs("high").priority(1).on("n0", 4).build();
    Pins pins = pins(Map.of(), Set.of(low), low, high);
    assertThat(pins.broken()).containsOnlyKeys(low.id());
  }

  @Test
  void aPinHoldsAgainstEqualsAndAgainstThoseWhoCannotUseMore() {
    JobState pinned = runs("pinned").on("n0", 4).build();
    JobState equal = job("equal").elasticity(new Elasticity.Rigid(8)).build();
    JobState full =
        runs("full").elasticity(new Elasticity.Rigid(4)).priority(9).on("n1", 4).build();
    JobState elsewhere = job("elsewhere").gpuType("b").priority(9).build();
    JobState never = job("never").elasticity(new Elasticity.Rigid(9)).priority(9).build();
    JobState held = job("held").queue("held").priority(9).build();
    Map<String, Queue> queues =
        Map.of("held", new Queue("held", 1, "", Optional.empty(), StopPolicy.HOLD));
    Pins pins = pins(queues, Set.of(pinned), pinned, equal, full, elsewhere, never, held);
    assertThat(pins.broken()).isEmpty();
    assertThat(plan("kastor", pins).allocation(pinned.id())).isEqualTo(pinned.allocation());
  }

  @Test
  void whatMustStayForReasonsOfItsOwnStays() {
    JobState starting = runs("starting").priority(-3).on(ALL).pinned().build();
    JobState high = job("high").priority(3).build();
    Pins pins = pins(Map.of(), Set.of(starting), starting, high);
    assertThat(pins.broken()).isEmpty();
    assertThat(plan("kastor", pins).allocation(starting.id())).isEqualTo(ALL);
  }
}
