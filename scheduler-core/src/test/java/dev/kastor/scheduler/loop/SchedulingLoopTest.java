package dev.kastor.scheduler.loop;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

final class SchedulingLoopTest {
  private static final List<Node> NODES = List.of(new Node("n0", "a", 4), new Node("n1", "b", 4));

  private static final class FakeCluster implements Cluster {
    private final Snapshot snapshot;
    private final List<Change> applied = new ArrayList<>();

    FakeCluster(JobState... jobs) {
      snapshot = new Snapshot(Instant.EPOCH, NODES, List.of(jobs));
    }

    @Override
    public Snapshot observe() {
      return snapshot;
    }

    @Override
    public void apply(List<Change> changes) {
      applied.addAll(changes);
    }
  }

  private record FixedPolicy(Function<Snapshot, Plan> planner) implements Policy {
    @Override
    public Plan plan(Snapshot snapshot) {
      return planner.apply(snapshot);
    }
  }

  private static Allocation across(int onFirst, int onSecond) {
    TreeMap<String, Integer> map = new TreeMap<>();
    map.put("n0", onFirst);
    map.put("n1", onSecond);
    return new Allocation(map);
  }

  private static Round tick(FakeCluster cluster, Object... jobsAndAllocations) {
    SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();
    for (int i = 0; i < jobsAndAllocations.length; i += 2) {
      assignments.put(
          new JobId("test", (String) jobsAndAllocations[i]),
          new Plan.Assignment(
              (Allocation) jobsAndAllocations[i + 1], Reason.of("Test", "Because.")));
    }
    return new SchedulingLoop(cluster, new FixedPolicy(snapshot -> new Plan(assignments))).tick();
  }

  @Test
  void appliesChangesThatFreeSlotsFirst() {
    FakeCluster cluster =
        new FakeCluster(
            job("start").build(),
            job("grow").on("n0", 1).build(),
            job("move").on("n0", 1).build(),
            job("shrink").on("n1", 3).build(),
            job("stop").on("n0", 2).build(),
            job("same").on("n1", 1).build());
    Round round =
        tick(
            cluster,
            "start",
            Allocation.on("n0", 1),
            "grow",
            Allocation.on("n0", 2),
            "move",
            Allocation.on("n1", 1),
            "shrink",
            Allocation.on("n1", 1),
            "same",
            Allocation.on("n1", 1));
    assertThat(cluster.applied).isEqualTo(round.changes());
    assertThat(cluster.applied)
        .extracting(change -> change.getClass().getSimpleName() + " " + change.job().name())
        .containsExactly(
            "Stop stop", "Rescale shrink", "Migrate move", "Rescale grow", "Start start");
  }

  @Test
  void handsNothingToTheClusterWhenNothingChanges() {
    FakeCluster cluster = new FakeCluster(job("a").on("n0", 2).build());
    assertThat(tick(cluster, "a", Allocation.on("n0", 2)).changes()).isEmpty();
    assertThat(cluster.applied).isEmpty();
  }

  private static void assertRefused(Round round, FakeCluster cluster, String... messageParts) {
    assertThat(round.violations()).hasSize(1);
    assertThat(round.violations().getFirst().message()).contains(messageParts);
    assertThat(round.changes()).isEmpty();
    assertThat(cluster.applied).isEmpty();
  }

  @Test
  void refusesMoreReplicasThanANodeHasSlots() {
    FakeCluster cluster = new FakeCluster(job("a").build(), job("b").build());
    assertRefused(
        tick(cluster, "a", Allocation.on("n0", 3), "b", Allocation.on("n0", 2)),
        cluster,
        "5 slots",
        "n0",
        "4 slots");
  }

  @Test
  void refusesReplicasOfAnotherSizeThanTheJobs() {
    FakeCluster cluster = new FakeCluster(job("a").slotsPerReplica(2).build());
    assertRefused(
        tick(cluster, "a", Allocation.on("n0", 2)),
        cluster,
        "a replica of job test/a takes 2 slots but the plan gives each 1");
    assertThat(tick(cluster, "a", Allocation.on("n0", 2, 2)).violations()).isEmpty();
  }

  @Test
  void countsTheSlotsOfReplicasOfSeveral() {
    FakeCluster cluster =
        new FakeCluster(job("a").slotsPerReplica(2).build(), job("b").slotsPerReplica(2).build());
    assertRefused(
        tick(cluster, "a", Allocation.on("n0", 2, 2), "b", Allocation.on("n0", 1, 2)),
        cluster,
        "6 slots",
        "n0",
        "4 slots");
  }

  @Test
  void refusesCountsOutsideTheBounds() {
    FakeCluster cluster = new FakeCluster(job("a").replicas(2, 4).build());
    assertRefused(tick(cluster, "a", Allocation.on("n0", 1)), cluster, "test/a", "1 replicas");
    assertRefused(tick(cluster, "a", across(3, 2)), cluster, "5 replicas");
  }

  @Test
  void refusesJobsAndNodesThatDoNotExist() {
    FakeCluster cluster = new FakeCluster(job("a").build());
    assertRefused(tick(cluster, "ghost", Allocation.on("n0", 1)), cluster, "test/ghost");
    assertRefused(tick(cluster, "a", Allocation.on("n9", 1)), cluster, "n9");
  }

  @Test
  void refusesAnotherGpuType() {
    FakeCluster cluster = new FakeCluster(job("a").gpuType("b").build());
    assertRefused(tick(cluster, "a", Allocation.on("n0", 1)), cluster, "type b", "type a");
  }

  @Test
  void refusesSeveralGpuTypesForAJobThatIsProfiledByType() {
    FakeCluster cluster = new FakeCluster(job("a").byGpuType("a", "b").build());
    assertRefused(
        tick(cluster, "a", across(1, 1)),
        cluster,
        "the plan spreads job test/a over GPUs of types a and b, which it cannot mix");
    assertThat(tick(cluster, "a", Allocation.on("n1", 2)).violations()).isEmpty();
    // A job that nobody profiled may lie on several types.
    FakeCluster any = new FakeCluster(job("a").build());
    assertThat(tick(any, "a", across(1, 1)).violations()).isEmpty();
  }

  @Test
  void refusesToTouchAPinnedJob() {
    FakeCluster cluster = new FakeCluster(job("a").on("n0", 2).pinned().build());
    assertRefused(tick(cluster, "a", Allocation.on("n0", 3)), cluster, "pinned", "n0=2", "n0=3");
    assertRefused(tick(cluster), cluster, "pinned");
  }

  @Test
  void toleratesAPinnedJobOnANodeThatLostItsSlots() {
    FakeCluster cluster = new FakeCluster(job("a").on("n0", 6).pinned().build(), job("b").build());
    Round round = tick(cluster, "a", Allocation.on("n0", 6), "b", Allocation.on("n1", 1));
    assertThat(round.violations()).isEmpty();
    assertThat(round.changes()).hasSize(1);
    assertRefused(
        tick(
            new FakeCluster(job("a").on("n0", 6).pinned().build(), job("b").build()),
            "a",
            Allocation.on("n0", 6),
            "b",
            Allocation.on("n0", 1)),
        new FakeCluster(),
        "7 slots");
  }
}
