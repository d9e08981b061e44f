package dev.kastor.scheduler.policy.fit;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanCheck;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.scheduler.policy.support.FreeSlots;
import dev.kastor.scheduler.policy.support.Sizes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class FitPolicyTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final Elasticity RIGID = new Elasticity.Rigid(2);

  private static Node node(String name, int slots) {
    return new Node(name, "a100", slots);
  }

  private static Plan plan(
      List<Node> nodes,
      List<JobState> jobs,
      Map<JobId, Map<String, String>> closed,
      Map<String, Allocation> planned) {
    SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();
    jobs.forEach(job ->
        assignments.put(
            job.id(),
            new Plan.Assignment(
                planned.getOrDefault(job.id().name(), Allocation.NONE),
                Reason.of("Planned", "so"))));
    Policy fixed =
        snapshot -> {
          SequencedMap<JobId, Plan.Assignment> own = new LinkedHashMap<>(assignments);
          own.keySet().retainAll(snapshot.jobs().stream().map(JobState::id).toList());
          return new Plan(own);
        };
    Snapshot snapshot = new Snapshot(NOW, nodes, jobs, Map.of(), closed);
    Plan plan = new FitPolicy(fixed, Control.SIZE).plan(snapshot);
    assertThat(PlanCheck.violations(snapshot, plan)).isEmpty();
    return plan;
  }

  private static Map<JobId, Map<String, String>> closed(JobState job, String... nodes) {
    Map<String, String> words = new TreeMap<>();
    for (String node : nodes) {
      words.put(node, "not enough CPU");
    }
    return Map.of(job.id(), words);
  }

  @Test
  void aJobGetsTheSameOnANodeThatTakesIt() {
    JobState job = job("a").replicas(1, 4).build();
    Plan plan =
        plan(
            List.of(node("n1", 4), node("n2", 4)),
            List.of(job),
            closed(job, "n1"),
            Map.of("a", Allocation.on("n1", 3, 1)));
    assertThat(plan.allocation(job.id())).isEqualTo(Allocation.on("n2", 3, 1));
    assertThat(plan.reason(job.id()).code()).isEqualTo("Planned");
  }

  @Test
  void itGetsFewerWhereNoMoreFit() {
    JobState job = job("a").replicas(1, 4).build();
    JobState other = job("b").replicas(3, 3).on("n2", 3).build();
    Plan plan =
        plan(
            List.of(node("n1", 4), node("n2", 4)),
            List.of(job, other),
            closed(job, "n1"),
            Map.of("a", Allocation.on("n1", 3, 1), "b", Allocation.on("n2", 3, 1)));
    assertThat(plan.allocation(job.id())).isEqualTo(Allocation.on("n2", 1, 1));
  }

  @Test
  void whoRunsKeepsWhatItHasAndGrowsElsewhere() {
    JobState job = job("a").replicas(1, 4).on("n1", 2).build();
    SequencedMap<String, Integer> grown = new TreeMap<>(Map.of("n1", 4));
    Plan plan =
        plan(
            List.of(node("n1", 4), node("n2", 1)),
            List.of(job),
            closed(job, "n1"),
            Map.of("a", new Allocation(grown, 1)));
    assertThat(plan.allocation(job.id()).replicasByNode()).isEqualTo(Map.of("n1", 2, "n2", 1));
  }

  @Test
  void aSizeThatIsNotAllowedIsNotGiven() {
    JobState job =
        job("a")
            .elasticity(new Elasticity.Adaptive(1, 4, new AllowedReplicas.PowersOfTwo()))
            .on("n1", 2)
            .build();
    Plan plan =
        plan(
            List.of(node("n1", 4), node("n2", 1)),
            List.of(job),
            closed(job, "n1"),
            Map.of("a", Allocation.on("n1", 4, 1)));
    assertThat(plan.allocation(job.id())).isEqualTo(Allocation.on("n1", 2, 1));
  }

  @Test
  void whatItCannotUseIsForOthersAndItsReasonNamesNodeAndWords() {
    JobState job = job("a").elasticity(RIGID).build();
    JobState busy = job("c").replicas(3, 3).on("n2", 3).build();
    JobState waiting = job("b").elasticity(RIGID).build();
    Plan plan =
        plan(
            List.of(node("n1", 2), node("n2", 4)),
            List.of(job, busy, waiting),
            closed(job, "n1"),
            Map.of("a", Allocation.on("n1", 2, 1), "c", Allocation.on("n2", 3, 1)));
    assertThat(plan.allocation(job.id()).isEmpty()).isTrue();
    assertThat(plan.reason(job.id()).code()).isEqualTo("NodesClosed");
    assertThat(plan.reason(job.id()).message()).contains("n1 (not enough CPU)");
    assertThat(plan.allocation(waiting.id())).isEqualTo(Allocation.on("n1", 2, 1));
  }

  @Test
  void nobodyMakesRoomForAJobThatNoOpenNodeCouldHold() {
    JobState job = job("a").elasticity(RIGID).build();
    JobState running = job("b").replicas(1, 2).on("n1", 2).build();
    // The policy would take a slot of the one that runs.
    Plan plan =
        plan(
            List.of(node("n1", 2)),
            List.of(running, job),
            closed(job, "n1"),
            Map.of("b", Allocation.on("n1", 2, 1), "a", Allocation.on("n1", 2, 1)));
    assertThat(plan.allocation(job.id()).isEmpty()).isTrue();
    assertThat(plan.reason(job.id()).code()).isEqualTo("NodesClosed");
    assertThat(plan.allocation(running.id())).isEqualTo(Allocation.on("n1", 2, 1));
  }

  @Test
  void whoRunsDoesNotStopBecauseItCannotMove() {
    JobState moves = job("x").elasticity(RIGID).on("n1", 2).build();
    JobState other = job("y").elasticity(RIGID).build();
    Plan plan =
        plan(
            List.of(node("n1", 2), node("n2", 2)),
            List.of(moves, other),
            closed(moves, "n2"),
            Map.of("x", Allocation.on("n2", 2, 1), "y", Allocation.on("n1", 2, 1)));
    assertThat(plan.allocation(moves.id())).isEqualTo(Allocation.on("n1", 2, 1));
    assertThat(plan.allocation(other.id())).isEqualTo(Allocation.on("n2", 2, 1));
  }

  @Test
  void nobodyOvertakesForSlotsThatNoMisfitGaveUp() {
    JobState misfit = job("a").replicas(1, 2).build();
    JobState head = job("b").elasticity(new Elasticity.Rigid(3)).build();
    JobState behind = job("c").replicas(1, 1).build();
    Plan plan =
        plan(
            List.of(node("n1", 2), node("n2", 2)),
            List.of(misfit, head, behind),
            closed(misfit, "n1"),
            Map.of("a", Allocation.on("n1", 2, 1)));
    assertThat(plan.allocation(misfit.id())).isEqualTo(Allocation.on("n2", 2, 1));
    assertThat(plan.allocation(behind.id()).isEmpty()).as("the policy let it wait").isTrue();
  }

  static Stream<String> names() {
    return Policies.names().stream();
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("names")
  void noPolicyPutsFurtherReplicasOnClosedNodes(String name) {
    boolean searches = name.equals("pollux") || name.equals("sia") || name.equals("shockwave");
    var random = new SplittableRandom(11);
    for (int number = 0; number < (searches ? 12 : 150); number++) {
      String scene = "scene %d".formatted(number);
      Snapshot snapshot = scene(random.split());
      Policy policy = Policies.create(name, PolicyContext.online(7));
      Plan plan = policy.plan(snapshot);
      assertThat(PlanCheck.violations(snapshot, plan)).as(scene).isEmpty();
      for (JobState job : snapshot.jobs()) {
        Map<String, Integer> given = plan.allocation(job.id()).replicasByNode();
        Map<String, Integer> has = job.allocation().replicasByNode();
        for (String node : snapshot.closed(job.id()).keySet()) {
          assertThat(given.getOrDefault(node, 0))
              .as("%s: replicas of %s on %s", scene, job.id(), node)
              .isLessThanOrEqualTo(has.getOrDefault(node, 0));
        }
        if (plan.reason(job.id()).code().equals("NodesClosed")) {
          assertThat(room(snapshot, plan, job))
              .as("%s: %s waits beside nodes that would take it", scene, job.id())
              .isFalse();
        }
      }
    }
  }

  /** Whether nodes that take a job have room for its least size beside what a plan gives. */
  private static boolean room(Snapshot snapshot, Plan plan, JobState job) {
    FreeSlots free = new FreeSlots(snapshot.nodes());
    snapshot.jobs().forEach(other -> free.take(plan.allocation(other.id())));
    for (String node : snapshot.closed(job.id()).keySet()) {
      int left = free.left(node);
      if (left > 0) {
        free.take(Allocation.on(node, left, 1));
      }
    }
    return free.place(job.spec(), Sizes.requested(job.spec())).isPresent();
  }

  private static Snapshot scene(SplittableRandom random) {
    List<Node> nodes = new ArrayList<>();
    int[] left = new int[random.nextInt(2, 6)];
    for (int n = 0; n < left.length; n++) {
      left[n] = random.nextInt(1, 5);
      nodes.add(node("n" + n, left[n]));
    }
    List<JobState> jobs = new ArrayList<>();
    Map<JobId, Map<String, String>> closed = new HashMap<>();
    for (int j = 0; j < random.nextInt(1, 8); j++) {
      int min = random.nextInt(1, 3);
      TestJob test =
          job("j" + j)
              .replicas(min, min + random.nextInt(0, 4))
              .model(random.nextBoolean() ? TestJob.SCALABLE : TestJob.STUBBORN, 4);
      int at = random.nextInt(left.length);
      if (random.nextBoolean() && left[at] >= min) {
        left[at] -= min;
        test.on("n" + at, min);
      }
      JobState job = test.build();
      jobs.add(job);
      Map<String, String> words = new TreeMap<>();
      for (Node node : nodes) {
        if (random.nextInt(3) == 0) {
          words.put(node.name(), "a taint");
        }
      }
      if (!words.isEmpty()) {
        closed.put(job.id(), words);
      }
    }
    return new Snapshot(NOW, nodes, jobs, Map.of(), closed);
  }
}
