package dev.kastor.scheduler.policy;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Learning;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanCheck;
import dev.kastor.scheduler.plan.PlanViolation;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.scheduler.policy.support.FreeSlots;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every registered policy must do, whatever it optimises. */
@Tag("slow")
final class PolicyContractTest {
  static Stream<String> names() {
    return Policies.names().stream();
  }

  private static Policy create(String name) {
    return Policies.create(name, PolicyContext.online(7));
  }

  private static List<Node> nodes(int count, int slots) {
    return IntStream.range(0, count)
        .mapToObj(i -> new Node("node-%02d".formatted(i), i % 2 == 0 ? "a" : "b", slots))
        .toList();
  }

  private static Snapshot snapshot(List<Node> nodes, List<JobState> jobs) {
    return new Snapshot(Instant.EPOCH.plus(Duration.ofHours(1)), nodes, jobs);
  }

  /** Jobs of all kinds; about half of them run, as far as slots reach. */
  private static List<JobState> mixedJobs(int count, List<Node> nodes, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    FreeSlots free = new FreeSlots(nodes);
    List<JobState> jobs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int min = 1 + random.nextInt(3);
      int max = min + random.nextInt(8);
      Elasticity elasticity =
          switch (random.nextInt(5)) {
            case 0 -> new Elasticity.Rigid(min);
            case 1 -> new Elasticity.Elastic(min, max, new AllowedReplicas.Any());
            case 4 -> new Elasticity.Restarting(min, max, new AllowedReplicas.Any());
            case 2 -> new Elasticity.Adaptive(1, 8, new AllowedReplicas.PowersOfTwo());
            default -> new Elasticity.Adaptive(min, max, new AllowedReplicas.Any());
          };
      TestJob job =
          job("job-%03d".formatted(i))
              .elasticity(elasticity)
              .gpuType(random.nextInt(5) == 0 ? "a" : "")
              .attainedService(random.nextInt(10_000));
      if (random.nextBoolean()) {
        job.model(random.nextBoolean() ? TestJob.SCALABLE : TestJob.STUBBORN, elasticity.min());
      }
      if (random.nextBoolean() && elasticity.allows(elasticity.min())) {
        free.place(job.build().spec(), elasticity.min()).ifPresent(job::on);
        if (!job.build().allocation().isEmpty() && random.nextInt(6) == 0) {
          job.pinned();
        }
      }
      jobs.add(job.build());
    }
    return jobs;
  }

  private static boolean searches(String name) {
    return List.of("pollux", "sia", "shockwave", "gavel").contains(name);
  }

  @ParameterizedTest
  @MethodSource("names")
  @Tag("never-retried")
  void keepsCapacityBoundsAndPinsOnRandomClusters(String name) {
    keepsCapacityBoundsAndPins(name, searches(name) ? 15 : 40);
  }

  @ParameterizedTest
  @MethodSource("names")
  @Tag("never-retried")
  @Tag("nightly")
  void keepsCapacityBoundsAndPinsOnManyRandomClusters(String name) {
    keepsCapacityBoundsAndPins(name, 40);
  }

  private static void keepsCapacityBoundsAndPins(String name, int scenes) {
    for (int seed = 0; seed < scenes; seed++) {
      List<Node> nodes = nodes(1 + seed % 6, 1 + seed % 5);
      Policy policy = create(name);
      Snapshot snapshot = snapshot(nodes, mixedJobs(1 + seed % 13, nodes, seed));
      for (int round = 0; round < 3; round++) {
        assertThat(PlanCheck.violations(snapshot, policy.plan(snapshot)))
            .as("seed %d round %d", seed, round)
            .isEmpty();
      }
    }
  }

  /** Uneven nodes, as where strangers hold GPUs, and jobs with replicas of one to eight GPUs. */
  private static Snapshot sizedScene(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Node> nodes = new ArrayList<>();
    boolean even = random.nextBoolean();
    for (int n = 1 + random.nextInt(6); n > 0; n--) {
      nodes.add(
          new Node(
              "node-%02d".formatted(nodes.size()),
              random.nextInt(3) == 0 ? "b" : "a",
              even ? 8 : random.nextInt(10)));
    }
    FreeSlots free = new FreeSlots(nodes);
    List<JobState> jobs = new ArrayList<>();
    for (int j = random.nextInt(12); j >= 0; j--) {
      int min = 1 + random.nextInt(3);
      int max = min + random.nextInt(6);
      Elasticity elasticity =
          switch (random.nextInt(4)) {
            case 0 -> new Elasticity.Rigid(min);
            case 1 -> new Elasticity.Elastic(min, max, new AllowedReplicas.Any());
            case 2 -> new Elasticity.Adaptive(1, 8, new AllowedReplicas.PowersOfTwo());
            default -> new Elasticity.Adaptive(min, max, new AllowedReplicas.Any());
          };
      TestJob job =
          job("job-%03d".formatted(jobs.size()))
              .slotsPerReplica(1 << random.nextInt(4))
              .elasticity(elasticity)
              .attainedService(random.nextInt(10_000));
      if (random.nextInt(3) == 0) {
        job.byGpuType("a", "b");
      }
      if (random.nextBoolean()) {
        job.model(random.nextBoolean() ? TestJob.SCALABLE : TestJob.STUBBORN, elasticity.min());
      }
      if (random.nextBoolean() && elasticity.allows(elasticity.min())) {
        free.place(job.build().spec(), elasticity.min()).ifPresent(job::on);
        if (!job.build().allocation().isEmpty() && random.nextInt(6) == 0) {
          job.pinned();
        }
      }
      jobs.add(job.build());
    }
    return snapshot(nodes, jobs);
  }

  /** A minute later, when a plan has been carried out. */
  private static Snapshot after(Snapshot before, Plan plan) {
    List<JobState> jobs = new ArrayList<>();
    for (JobState job : before.jobs()) {
      Allocation given = plan.allocation(job.id());
      jobs.add(
          new JobState(
              job.spec(),
              given,
              job.model(),
              Math.max(job.maxProfiledReplicas(), given.replicas()),
              job.progress(),
              job.age().plusSeconds(60),
              job.attainedService() + 60.0 * given.slots(),
              job.restarts(),
              job.rescaleCost(),
              job.pinned()));
    }
    return new Snapshot(before.now().plusSeconds(60), before.nodes(), jobs, before.queues());
  }

  /** No node gives more than it has, and no replica lies on two nodes. */
  @ParameterizedTest
  @MethodSource("names")
  @Tag("never-retried")
  void overcommitsNoNodeAndSplitsNoReplicaOfSeveralSlots(String name) {
    assertThat(replicasOfSeveralSlots(name, searches(name) ? 20 : 200)).isGreaterThan(20);
  }

  @ParameterizedTest
  @MethodSource("names")
  @Tag("never-retried")
  @Tag("nightly")
  void overcommitsNoNodeOnManyRandomClusters(String name) {
    assertThat(replicasOfSeveralSlots(name, searches(name) ? 80 : 1000)).isGreaterThan(50);
  }

  /**
   * Allocations with replicas of several slots among those of so many scenes, all of them right.
   */
  private static int replicasOfSeveralSlots(String name, int scenes) {
    int several = 0;
    for (int seed = 0; seed < scenes; seed++) {
      Policy policy = create(name);
      Snapshot snapshot = sizedScene(seed);
      for (int round = 0; round < 3; round++) {
        Plan plan = policy.plan(snapshot);
        assertThat(PlanCheck.violations(snapshot, plan))
            .extracting(PlanViolation::message)
            .as("seed %d round %d", seed, round)
            .isEmpty();
        for (JobState job : snapshot.jobs()) {
          several += plan.allocation(job.id()).slotsPerReplica() > 1 ? 1 : 0;
        }
        snapshot = after(snapshot, plan);
      }
    }
    return several;
  }

  /** A replica takes its slots of one node, of whatever number of nodes and remainders. */
  @ParameterizedTest
  @MethodSource("names")
  void startsAJobWhoseReplicasTakeSeveralSlots(String name) {
    JobState job = job("a").slotsPerReplica(4).replicas(3, 3).age(Duration.ZERO).build();
    Snapshot snapshot =
        snapshot(List.of(new Node("n0", "a", 7), new Node("n1", "a", 9)), List.of(job));
    Allocation given = create(name).plan(snapshot).allocation(job.id());
    assertThat(given.replicasByNode()).isEqualTo(Map.of("n0", 1, "n1", 2));
    assertThat(given.slots()).isEqualTo(12);
  }

  /** FIFO alone lets the first in line hold up the others, whatever it asks for. */
  private static Stream<String> namesThatPassTheFirst() {
    return names().filter(name -> !name.equals("fifo"));
  }

  @ParameterizedTest
  @MethodSource("namesThatPassTheFirst")
  void jobsThatNoNodeCanHoldKeepNobodyWaiting(String name) {
    JobState wide = job("a").slotsPerReplica(8).elasticity(new Elasticity.Rigid(1)).build();
    JobState remainders = job("b").slotsPerReplica(4).elasticity(new Elasticity.Rigid(3)).build();
    JobState fits = job("c").slotsPerReplica(2).elasticity(new Elasticity.Rigid(4)).build();
    List<Node> nodes =
        List.of(new Node("n0", "a", 7), new Node("n1", "a", 7), new Node("n2", "a", 3));
    Snapshot snapshot = snapshot(nodes, List.of(wide, remainders, fits));
    Policy policy = create(name);
    for (int round = 0; round < 3; round++) {
      Plan plan = policy.plan(snapshot);
      assertThat(plan.allocation(wide.id())).isEqualTo(Allocation.NONE);
      assertThat(plan.allocation(remainders.id())).isEqualTo(Allocation.NONE);
      assertThat(plan.allocation(fits.id()).replicas()).isEqualTo(4);
      snapshot = after(snapshot, plan);
    }
  }

  /** Those whose decision takes well under a millisecond. */
  @ParameterizedTest
  @ValueSource(strings = {"fifo", "tiresias", "srtf", "optimus"})
  @Tag("never-retried")
  void keepsTheRulesOnHundredsOfRandomClusters(String name) {
    keepsTheRules(name, 300);
  }

  @ParameterizedTest
  @ValueSource(strings = {"fifo", "tiresias", "srtf", "optimus"})
  @Tag("never-retried")
  @Tag("nightly")
  void keepsTheRulesOnThousandsOfRandomClusters(String name) {
    keepsTheRules(name, 3000);
  }

  private static void keepsTheRules(String name, int scenes) {
    Policy policy = create(name);
    for (int seed = 1000; seed < 1000 + scenes; seed++) {
      List<Node> nodes = nodes(1 + seed % 9, 1 + seed % 8);
      Snapshot snapshot = snapshot(nodes, mixedJobs(1 + seed % 31, nodes, seed));
      assertThat(PlanCheck.violations(snapshot, policy.plan(snapshot)))
          .as("seed %d", seed)
          .isEmpty();
    }
  }

  /** Jobs that are profiled on the types a and c of three, half of them running. */
  private static List<JobState> typedJobs(int count, List<Node> nodes, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    FreeSlots free = new FreeSlots(nodes);
    List<JobState> jobs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int size = 1 + random.nextInt(4);
      TestJob job =
          job("job-%03d".formatted(i)).elasticity(new Elasticity.Rigid(size)).byGpuType("a", "c");
      if (random.nextBoolean()) {
        free.place(job.build().spec(), size).ifPresent(job::on);
      }
      jobs.add(job.build());
    }
    return jobs;
  }

  /** All but Pollux, which takes all GPUs for alike: its host gives it nodes of one type. */
  private static Stream<String> namesThatTellGpuTypesApart() {
    return names().filter(name -> !name.equals("pollux"));
  }

  @ParameterizedTest
  @MethodSource("namesThatTellGpuTypesApart")
  @Tag("never-retried")
  void neitherMixesNorMistakesGpuTypes(String name) {
    for (int seed = 0; seed < 60; seed++) {
      int count = 3 + seed % 5;
      List<Node> nodes =
          IntStream.range(0, count)
              .mapToObj(
                  i -> new Node("node-%02d".formatted(i), "abc".substring(i % 3, i % 3 + 1), 4))
              .toList();
      Snapshot snapshot = snapshot(nodes, typedJobs(1 + seed % 11, nodes, seed));
      Policy policy = create(name);
      for (int round = 0; round < 2; round++) {
        Plan plan = policy.plan(snapshot);
        assertThat(PlanCheck.violations(snapshot, plan)).as("seed %d", seed).isEmpty();
        assertThat(snapshot.jobs())
            .as("seed %d: somebody runs", seed)
            .anyMatch(job -> !plan.allocation(job.id()).isEmpty());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void leavesPinnedJobsWhereTheyAreEvenOnLostNodes(String name) {
    JobState here = job("a").replicas(1, 4).on("node-00", 2).pinned().build();
    JobState gone = job("b").replicas(1, 4).on("lost", 2).pinned().build();
    Snapshot snapshot = snapshot(nodes(1, 2), List.of(here, gone, job("c").build()));
    Plan plan = create(name).plan(snapshot);
    assertThat(plan.allocation(here.id())).isEqualTo(here.allocation());
    assertThat(plan.allocation(gone.id())).isEqualTo(gone.allocation());
    assertThat(PlanCheck.violations(snapshot, plan)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("names")
  void isDeterministic(String name) {
    List<Node> nodes = nodes(4, 4);
    Snapshot snapshot = snapshot(nodes, mixedJobs(9, nodes, 3));
    Policy one = create(name);
    Policy other = create(name);
    for (int round = 0; round < 3; round++) {
      assertThat(one.plan(snapshot)).isEqualTo(other.plan(snapshot));
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void givesNothingOnAnEmptyClusterAndPlansNobodyWithoutJobs(String name) {
    Plan nobody = create(name).plan(snapshot(nodes(2, 2), List.of()));
    assertThat(nobody.assignments()).isEmpty();
    JobState job = job("a").build();
    assertThat(create(name).plan(snapshot(List.of(), List.of(job))).allocation(job.id()))
        .isEqualTo(Allocation.NONE);
    assertThat(create(name).plan(snapshot(nodes(2, 0), List.of(job))).allocation(job.id()))
        .isEqualTo(Allocation.NONE);
  }

  @ParameterizedTest
  @MethodSource("names")
  void startsALoneJobAtOnce(String name) {
    JobState job = job("a").age(Duration.ZERO).rescaleCost(Duration.ofSeconds(30)).build();
    Plan plan = create(name).plan(snapshot(nodes(2, 2), List.of(job)));
    // Most policies try a job that was never measured with one replica first.
    assertThat(plan.allocation(job.id()).replicas()).isBetween(1, name.equals("kastor") ? 4 : 1);
    assertThat(plan.reason(job.id()).code()).isEqualTo("Started");
  }

  @ParameterizedTest
  @MethodSource("names")
  @Tag("never-retried")
  void handlesTwoHundredJobs(String name) {
    List<Node> nodes = nodes(16, 4);
    Snapshot snapshot = snapshot(nodes, mixedJobs(200, nodes, 11));
    Plan plan = create(name).plan(snapshot);
    assertThat(PlanCheck.violations(snapshot, plan)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("names")
  void survivesTheLossOfANode(String name) {
    JobState job = job("a").model(TestJob.SCALABLE, 2).replicas(1, 2).on("lost", 2).build();
    Snapshot snapshot = snapshot(nodes(1, 2), List.of(job));
    Plan plan = create(name).plan(snapshot);
    assertThat(PlanCheck.violations(snapshot, plan)).isEmpty();
    assertThat(plan.allocation(job.id()).replicas()).isPositive();
  }

  @ParameterizedTest
  @MethodSource("names")
  void givesEveryReasonACodeAndASentence(String name) {
    List<Node> nodes = nodes(2, 4);
    Snapshot snapshot = snapshot(nodes, mixedJobs(20, nodes, 5));
    Plan plan = create(name).plan(snapshot);
    assertThat(snapshot.jobs())
        .allSatisfy(job -> {
          Reason reason = plan.reason(job.id());
          assertThat(reason.code()).matches("[A-Z][A-Za-z]+").isNotEqualTo("NotPlanned");
          assertThat(reason.message()).endsWith(".");
          assertThat(reason.numbers().values()).allMatch(number -> Double.isFinite(number));
        });
  }

  @Test
  void listsValidNamesForAnUnknownOne() {
    assertThatThrownBy(() -> Policies.create("tetris", PolicyContext.online(1)))
        .hasMessageContaining("tetris")
        .hasMessageContaining("pollux, fifo");
    assertThatThrownBy(() -> Policies.choose("kastor:hodl=3"))
        .hasMessageContaining("policy kastor has no option 'hodl'. Use one of: hold, ");
    assertThatThrownBy(() -> Policies.choose("fifo:hold=3"))
        .hasMessageContaining("policy fifo has no option 'hold'. It has none.");
    assertThatThrownBy(() -> Policies.choose("kastor:growth=1"))
        .hasMessageContaining("policy kastor: growth must be a number above 1 but is '1'");
  }

  @Test
  void optionsReachThePolicy() {
    List<Node> nodes = nodes(8, 4);
    Snapshot snapshot = snapshot(nodes, mixedJobs(12, nodes, 3));
    PolicyContext context = PolicyContext.online(1);
    assertThat(Policies.create("kastor:hold=2000", context).plan(snapshot))
        .isEqualTo(Policies.create("kastor", context).plan(snapshot));
    assertThat(Policies.create("kastor:firstReplicas=1", context).plan(snapshot))
        .isNotEqualTo(Policies.create("kastor", context).plan(snapshot));
    assertThat(Policies.traits(Policies.choose("kastor:learning=faithful")).learning())
        .isEqualTo(Learning.FAITHFUL);
  }

  @Test
  void theThresholdOfTiresiasIsInGpuHours() {
    JobState served = job("served").replicas(4, 4).attainedService(2 * 3600).build();
    JobState fresh = job("fresh").replicas(4, 4).build();
    Snapshot snapshot = snapshot(nodes(1, 4), List.of(served, fresh));
    PolicyContext context = PolicyContext.online(1);
    assertThat(Policies.create("tiresias", context).plan(snapshot).allocation(fresh.id()).isEmpty())
        .isTrue();
    Plan plan = Policies.create("tiresias:threshold=1.9", context).plan(snapshot);
    assertThat(plan.allocation(fresh.id()).replicas()).isEqualTo(4);
  }

  @Test
  void aFactoryMakesPoliciesThatDoNotShareWhatTheySaw() {
    List<Node> nodes = nodes(2, 4);
    Snapshot snapshot = snapshot(nodes, mixedJobs(12, nodes, 3));
    PolicyFactory factory = Policies.factory("pollux:population=20", PolicyContext.online(1));
    assertThat(factory.name()).isEqualTo("pollux:population=20");
    Policy first = factory.create();
    Plan plan = first.plan(snapshot);
    first.plan(snapshot);
    assertThat(factory.create().plan(snapshot)).isEqualTo(plan);
  }
}
