package dev.kastor.scheduler.policy;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.StopPolicy;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanCheck;
import dev.kastor.scheduler.plan.PlanViolation;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.plan.QuotaAccount;
import dev.kastor.scheduler.plan.Quotas;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.scheduler.policy.support.FreeSlots;
import dev.kastor.scheduler.policy.support.Sizes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What every registered policy does with quotas. */
@Tag("slow")
@Tag("never-retried")
final class QuotaContractTest {
  static Stream<String> names() {
    return Policies.names().stream();
  }

  private static Policy create(String name) {
    return Policies.create(name, PolicyContext.online(7));
  }

  /** Scenes of each test at each commit; policies that search take some milliseconds a decision. */
  private static int scenes(String name) {
    return searches(name) ? 12 : 150;
  }

  /** Scenes of each test at night, those of each commit among them. */
  private static int manyScenes(String name) {
    return searches(name) ? 40 : 1000;
  }

  private static boolean searches(String name) {
    return List.of("pollux", "sia", "shockwave", "gavel").contains(name);
  }

  @ParameterizedTest
  @MethodSource("names")
  void keepsEveryQuotaOnRandomClusters(String name) {
    keepsEveryQuota(name, scenes(name));
  }

  @ParameterizedTest
  @MethodSource("names")
  @Tag("nightly")
  void keepsEveryQuotaOnManyRandomClusters(String name) {
    keepsEveryQuota(name, manyScenes(name));
  }

  private static void keepsEveryQuota(String name, int scenes) {
    for (int seed = 0; seed < scenes; seed++) {
      Policy policy = create(name);
      Snapshot snapshot = seed % 2 == 0 ? QuotaScene.of(seed) : QuotaScene.ofSizes(seed);
      for (int round = 0; round < 2; round++) {
        Plan plan = policy.plan(snapshot);
        assertThat(PlanCheck.violations(snapshot, plan))
            .extracting(PlanViolation::message)
            .as("seed %d round %d", seed, round)
            .isEmpty();
        snapshot = QuotaScene.after(snapshot, plan);
      }
    }
  }

  /** Nobody waits whom its quota lets in and for whom there are slots. */
  @ParameterizedTest
  @MethodSource("names")
  void leavesNoQuotaUnusedThatAWaitingJobCouldTake(String name) {
    leavesNoQuotaUnused(name, scenes(name));
  }

  @ParameterizedTest
  @MethodSource("names")
  @Tag("nightly")
  void leavesNoQuotaUnusedInManyScenes(String name) {
    leavesNoQuotaUnused(name, manyScenes(name));
  }

  private static void leavesNoQuotaUnused(String name, int scenes) {
    int waited = 0;
    for (int seed = 0; seed < scenes; seed++) {
      Policy policy = create(name);
      Snapshot snapshot = QuotaScene.of(seed);
      Plan plan = policy.plan(snapshot);
      Quotas quotas = taken(snapshot, plan);
      List<FreeSlots> free = free(name, snapshot, plan);
      boolean byQuota =
          snapshot.jobs().stream()
              .anyMatch(job -> plan.reason(job.id()).code().equals("WaitingForQuota"));
      for (JobState job : snapshot.jobs()) {
        if (byQuota
            && plan.allocation(job.id()).isEmpty()
            && snapshot.queue(job.spec().queue()).stop() == StopPolicy.NONE) {
          int size = least(job, Policies.traits(Policies.choose(name)).control());
          boolean fits =
              job.spec().elasticity().allows(size)
                  && size <= quotas.room(job)
                  && free.stream().anyMatch(slots -> slots.place(job.spec(), size).isPresent());
          assertThat(fits).as("seed %d: %s could run", seed, job.id()).isFalse();
          waited++;
        }
      }
    }
    assertThat(waited).isGreaterThan(Math.min(10, scenes / 4));
  }

  /** What a plan leaves, of each GPU type alone where a policy never mixes them. */
  private static List<FreeSlots> free(String name, Snapshot snapshot, Plan plan) {
    List<String> types = name.equals("kastor") ? List.of("a", "b") : List.of("");
    return types.stream()
        .map(type -> {
          FreeSlots free =
              new FreeSlots(
                  snapshot.nodes().stream().filter(n -> n.gpuType().contains(type)).toList());
          snapshot.jobs().forEach(job -> free.take(plan.allocation(job.id())));
          return free;
        })
        .toList();
  }

  private static int least(JobState job, Control control) {
    return control == Control.PLACEMENT
        ? Sizes.requested(job.spec())
        : Sizes.fewest(job.spec().elasticity());
  }

  private static Quotas taken(Snapshot snapshot, Plan plan) {
    Quotas quotas = Quotas.of(snapshot);
    for (JobState job : snapshot.jobs()) {
      quotas.take(job, plan.allocation(job.id()).slots());
    }
    return quotas;
  }

  private static Map<String, Queue> cohort(Quota a, Quota b) {
    return Map.of(
        "a", new Queue("a", 1, "c", Optional.of(a), StopPolicy.NONE),
        "b", new Queue("b", 1, "c", Optional.of(b), StopPolicy.NONE));
  }

  private static TestJob running(String name, String queue, String node, int replicas) {
    return job(name)
        .replicas(1, 8)
        .model(TestJob.SCALABLE, 8)
        .queue(queue)
        .sinceChange(Duration.ofMinutes(5))
        .on(node, replicas);
  }

  private static Snapshot snapshot(Map<String, Queue> queues, JobState... jobs) {
    List<Node> nodes = List.of(new Node("n0", "a", 4), new Node("n1", "a", 4));
    return new Snapshot(Instant.EPOCH.plus(Duration.ofHours(1)), nodes, List.of(jobs), queues);
  }

  @ParameterizedTest
  @MethodSource("names")
  void aQueueHasItsQuotaBackInOneRound(String name) {
    JobState one = running("one", "a", "n0", 4).build();
    JobState two = running("two", "a", "n1", 4).build();
    JobState lender =
        job("lender").elasticity(new Elasticity.Rigid(4)).queue("b").age(Duration.ZERO).build();
    Snapshot snapshot = snapshot(cohort(new Quota(4), new Quota(4)), one, two, lender);
    Plan plan = create(name).plan(snapshot);
    assertThat(plan.allocation(lender.id()).replicas()).isEqualTo(4);
    assertThat(used(snapshot, plan, "a")).isLessThanOrEqualTo(4).isPositive();
    assertThat(PlanCheck.violations(snapshot, plan)).isEmpty();
  }

  /** Where there are GPUs for all, nobody waits for what its own queue is entitled to. */
  @ParameterizedTest
  @MethodSource("names")
  void nobodyWaitsForTheQuotaOfItsOwnQueue(String name) {
    nobodyWaitsForItsOwnQuota(name, scenes(name));
  }

  @ParameterizedTest
  @MethodSource("names")
  @Tag("nightly")
  void nobodyWaitsForTheQuotaOfItsOwnQueueInManyScenes(String name) {
    nobodyWaitsForItsOwnQuota(name, manyScenes(name));
  }

  private static void nobodyWaitsForItsOwnQuota(String name, int scenes) {
    int borrowed = 0;
    for (int seed = 0; seed < scenes; seed++) {
      Snapshot snapshot = roomy(QuotaScene.of(seed));
      Policy policy = create(name);
      Plan plan = policy.plan(snapshot);
      Quotas quotas = taken(snapshot, plan);
      for (JobState job : snapshot.jobs()) {
        QuotaAccount account = quotas.account(job);
        if (account != null) {
          borrowed += account.borrowed();
        }
        if (account != null
            && plan.allocation(job.id()).isEmpty()
            && account.queue().stop() == StopPolicy.NONE) {
          assertThat(account.used() + least(job, Policies.traits(Policies.choose(name)).control()))
              .as("seed %d: %s waits: %s", seed, job.id(), plan.reason(job.id()))
              .isGreaterThan(account.nominal());
        }
      }
    }
    assertThat(borrowed).isPositive();
  }

  /** The same on many more nodes, and nobody pinned. */
  private static Snapshot roomy(Snapshot scene) {
    List<Node> nodes = new ArrayList<>(scene.nodes());
    for (int n = 0; n < 40; n++) {
      nodes.add(new Node("more-%02d".formatted(n), "a", 8));
    }
    return new Snapshot(
        scene.now(),
        nodes,
        scene.jobs().stream().filter(job -> !job.pinned()).toList(),
        scene.queues());
  }

  private static int used(Snapshot snapshot, Plan plan, String queue) {
    QuotaAccount account = Objects.requireNonNull(taken(snapshot, plan).account(queue));
    return account.used();
  }

  /** A quota counts slots: of two replicas of four GPUs each it has room for one. */
  @ParameterizedTest
  @MethodSource("names")
  void countsTheSlotsOfReplicasOfSeveral(String name) {
    JobState wide =
        job("wide").slotsPerReplica(4).elasticity(new Elasticity.Rigid(1)).queue("a").build();
    JobState wider =
        job("wider").slotsPerReplica(4).elasticity(new Elasticity.Rigid(1)).queue("a").build();
    Map<String, Queue> queues =
        Map.of("a", new Queue("a", 1, "", Optional.of(new Quota(7)), StopPolicy.NONE));
    Snapshot snapshot = snapshot(queues, wide, wider);
    Plan plan = create(name).plan(snapshot);
    assertThat(used(snapshot, plan, "a")).isEqualTo(4);
    assertThat(plan.allocation(wide.id()).isEmpty())
        .isNotEqualTo(plan.allocation(wider.id()).isEmpty());
    JobState waits = plan.allocation(wide.id()).isEmpty() ? wide : wider;
    assertThat(plan.reason(waits.id()).code()).isEqualTo("WaitingForQuota");
    assertThat(PlanCheck.violations(snapshot, plan)).isEmpty();
  }

  /** What a queue lent comes back replica by replica. */
  @ParameterizedTest
  @MethodSource("names")
  void takesBackWholeReplicas(String name) {
    JobState borrower =
        job("borrower")
            .slotsPerReplica(2)
            .replicas(1, 4)
            .model(TestJob.SCALABLE, 4)
            .queue("a")
            .sinceChange(Duration.ofMinutes(5))
            .on("n0", 2)
            .build();
    JobState lender = job("lender").elasticity(new Elasticity.Rigid(6)).queue("b").build();
    Snapshot snapshot = snapshot(cohort(new Quota(2), new Quota(6)), borrower, lender);
    Plan plan = create(name).plan(snapshot);
    assertThat(PlanCheck.violations(snapshot, plan)).isEmpty();
    assertThat(plan.allocation(lender.id()).slots()).isEqualTo(6);
    assertThat(plan.allocation(borrower.id()).slots()).isIn(0, 2);
  }

  @ParameterizedTest
  @MethodSource("names")
  void aPinnedBorrowerStays(String name) {
    JobState one = running("one", "a", "n0", 4).pinned().build();
    JobState two = running("two", "a", "n1", 4).pinned().build();
    JobState lender = job("lender").elasticity(new Elasticity.Rigid(4)).queue("b").build();
    Snapshot snapshot = snapshot(cohort(new Quota(4), new Quota(4)), one, two, lender);
    Plan plan = create(name).plan(snapshot);
    assertThat(plan.allocation(one.id())).isEqualTo(one.allocation());
    assertThat(plan.allocation(two.id())).isEqualTo(two.allocation());
    assertThat(plan.allocation(lender.id())).isEqualTo(Allocation.NONE);
    assertThat(PlanCheck.violations(snapshot, plan)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("names")
  void aQueueBorrowsWhatNobodyElseWants(String name) {
    JobState one = job("one").replicas(1, 4).model(TestJob.SCALABLE, 4).queue("a").build();
    JobState two = job("two").elasticity(new Elasticity.Rigid(4)).queue("a").build();
    Snapshot snapshot = snapshot(cohort(new Quota(2), new Quota(6)), one, two);
    Plan plan = create(name).plan(snapshot);
    assertThat(used(snapshot, plan, "a")).isGreaterThan(4);
  }

  @ParameterizedTest
  @MethodSource("names")
  void saysWhatKeepsAJobWaiting(String name) {
    Map<String, Queue> queues = cohort(new Quota(4, 0, 0), new Quota(2, 1, 2));
    JobState runs = running("runs", "a", "n0", 4).elasticity(new Elasticity.Rigid(4)).build();
    JobState waits = job("waits").elasticity(new Elasticity.Rigid(2)).queue("a").build();
    JobState never = job("never").elasticity(new Elasticity.Rigid(4)).queue("b").build();
    Plan plan = create(name).plan(snapshot(queues, runs, waits, never));
    assertThat(plan.reason(waits.id()).code()).isEqualTo("WaitingForQuota");
    assertThat(plan.reason(waits.id()).message()).contains("queue a holds 4 of its 4 GPUs");
    assertThat(plan.reason(waits.id()).numbers()).containsEntry("queueNominal", 4.0);
    assertThat(plan.reason(never.id()).code()).isEqualTo("ExceedsQuota");
    assertThat(plan.reason(never.id()).message())
        .contains("least size is 4 GPUs, but queue b may never hold more than 2");
  }

  @ParameterizedTest
  @MethodSource("names")
  void stopsQueues(String name) {
    Map<String, Queue> queues =
        Map.of(
            "held", new Queue("held", 1, "", Optional.empty(), StopPolicy.HOLD),
            "drained", new Queue("drained", 1, "", Optional.empty(), StopPolicy.HOLD_AND_DRAIN));
    JobState goesOn = running("goes-on", "held", "n0", 2).build();
    JobState waits = job("waits").queue("held").build();
    JobState stops = running("stops", "drained", "n1", 2).build();
    Snapshot snapshot = snapshot(queues, goesOn, waits, stops);
    Plan plan = create(name).plan(snapshot);
    assertThat(plan.allocation(goesOn.id()).replicas()).isPositive();
    assertThat(plan.allocation(waits.id())).isEqualTo(Allocation.NONE);
    assertThat(plan.reason(waits.id()).code()).isEqualTo("QueueHeld");
    assertThat(plan.allocation(stops.id())).isEqualTo(Allocation.NONE);
    assertThat(plan.reason(stops.id()).code()).isEqualTo("QueueDrained");
    assertThat(PlanCheck.violations(snapshot, plan)).isEmpty();
  }

  /** A policy of fixed sizes stops; among equals it is the one that loses least. */
  @Test
  void stopsWhatLosesLeastWork() {
    JobState saved =
        running("saved", "a", "n0", 4)
            .elasticity(new Elasticity.Rigid(4))
            .unsaved(Duration.ofSeconds(5))
            .build();
    JobState unsaved =
        running("unsaved", "a", "n1", 4)
            .elasticity(new Elasticity.Rigid(4))
            .unsaved(Duration.ofMinutes(9))
            .build();
    JobState lender = job("lender").elasticity(new Elasticity.Rigid(4)).queue("b").build();
    Snapshot snapshot = snapshot(cohort(new Quota(4), new Quota(4)), saved, unsaved, lender);
    Plan plan = create("fifo").plan(snapshot);
    assertThat(plan.allocation(saved.id())).isEqualTo(Allocation.NONE);
    assertThat(plan.reason(saved.id()).code()).isEqualTo("Reclaimed");
    assertThat(plan.allocation(unsaved.id())).isEqualTo(unsaved.allocation());
  }

  @Test
  void shrinksBorrowersBeforeItStopsThem() {
    JobState cheap = running("cheap", "a", "n0", 4).rescaleCost(Duration.ofMillis(100)).build();
    JobState dear = running("dear", "a", "n1", 4).rescaleCost(Duration.ofMinutes(2)).build();
    JobState lender = job("lender").elasticity(new Elasticity.Rigid(2)).queue("b").build();
    Snapshot snapshot = snapshot(cohort(new Quota(6), new Quota(2)), cheap, dear, lender);
    Plan plan = create("optimus").plan(snapshot);
    assertThat(plan.allocation(cheap.id()).replicas()).isPositive();
    assertThat(plan.allocation(dear.id()).replicas()).isPositive();
    assertThat(plan.allocation(lender.id()).replicas()).isEqualTo(2);
    assertThat(PlanCheck.violations(snapshot, plan)).isEmpty();
  }
}
