package dev.kastor.scheduler.policy.kastor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.plugin.Options;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which running jobs leave their nodes so that a larger one finds room, and how many. */
final class DefragmentationTest {
  private static final Instant NOON = Instant.parse("2026-06-01T12:00:00Z");
  private static final List<Node> NODES = List.of(new Node("n0", "a", 8), new Node("n1", "a", 8));
  private static final Elasticity ONE = new Elasticity.Adaptive(1, 1, new AllowedReplicas.Any());
  private static final int SCENES = 1500;

  private static Options options(int movesPerNode) {
    return TestOptions.USUAL.with(KastorPlugin.MOVES_PER_NODE, movesPerNode);
  }

  private static TestJob job(String name, Elasticity elasticity) {
    return TestJob.job(name)
        .elasticity(elasticity)
        .model(TestJob.SCALABLE, 1)
        .steps(1000, 1e6)
        .sinceChange(Duration.ofHours(2));
  }

  /** Four jobs with one GPU on each of two nodes of eight, and a job that needs a whole node. */
  private static Snapshot scattered(Instant now, Elasticity small) {
    List<JobState> jobs = new ArrayList<>();
    for (int j = 0; j < 8; j++) {
      jobs.add(job("small-" + j, small).on("n" + j % 2, 1).build());
    }
    jobs.add(job("gang", new Elasticity.Rigid(1)).slotsPerReplica(8).build());
    return new Snapshot(now, NODES, jobs);
  }

  private static List<JobState> moved(Snapshot snapshot, Plan plan) {
    return snapshot.jobs().stream()
        .filter(job -> !job.allocation().isEmpty())
        .filter(job -> !plan.allocation(job.id()).equals(job.allocation()))
        .toList();
  }

  private static boolean starts(Snapshot snapshot, Plan plan) {
    return !plan.allocation(snapshot.jobs().getLast().id()).isEmpty();
  }

  @Test
  void jobsSayForWhomTheyMove() {
    Snapshot snapshot = scattered(NOON, ONE);
    Plan plan = new KastorPolicy(TestOptions.USUAL).plan(snapshot);
    assertThat(starts(snapshot, plan)).isTrue();
    assertThat(moved(snapshot, plan))
        .hasSize(4)
        .allSatisfy(job -> {
          assertThat(plan.allocation(job.id()).slots()).isEqualTo(1);
          Reason reason = plan.reason(job.id());
          assertThat(reason.code()).isEqualTo("Moved");
          assertThat(reason.message()).contains("makes room for test/gang");
        });
  }

  @Test
  void rigidJobsStayWhereTheyRun() {
    Snapshot snapshot = scattered(NOON, new Elasticity.Rigid(1));
    Plan plan = new KastorPolicy(TestOptions.USUAL).plan(snapshot);
    assertThat(moved(snapshot, plan)).isEmpty();
    assertThat(starts(snapshot, plan)).isFalse();
  }

  @Test
  void movesAreNotMoreThanAllowedInAnyHour() {
    KastorPolicy policy = new KastorPolicy(options(3));
    List<Instant> moves = new ArrayList<>();
    for (int round = 0; round < 30; round++) {
      Snapshot snapshot = scattered(NOON.plus(Duration.ofMinutes(10L * round)), ONE);
      Plan plan = policy.plan(snapshot);
      List<JobState> moved = moved(snapshot, plan);
      assertThat(starts(snapshot, plan)).isEqualTo(moved.size() == 4);
      moved.forEach(job -> moves.add(snapshot.now()));
    }
    assertThat(moves).hasSize(5 * 4);
    for (Instant first : moves) {
      Instant end = first.plus(Duration.ofHours(1));
      assertThat(moves.stream().filter(at -> !at.isBefore(first) && at.isBefore(end)).count())
          .isLessThanOrEqualTo(3L * NODES.size());
    }
  }

  @Test
  void aPlanIsTheSameWhenItIsMadeAgain() {
    KastorPolicy policy = new KastorPolicy(options(3));
    Snapshot snapshot = scattered(NOON, ONE);
    assertThat(policy.plan(snapshot)).isEqualTo(policy.plan(snapshot));
  }

  @Tag("slow")
  @Test
  void aBoundOfNoMoveMovesNobody() {
    int moving = 0;
    for (int seed = 0; seed < SCENES; seed++) {
      Snapshot snapshot = RandomScene.of(seed);
      Decision with = new KastorPolicy(TestOptions.USUAL).decide(snapshot);
      Decision without = new KastorPolicy(options(0)).decide(snapshot);
      assertThat(without.draft().movedFor()).as("seed %d", seed).isEmpty();
      moving += with.draft().movedFor().isEmpty() ? 0 : 1;
    }
    assertThat(moving).as("scenes with moves").isPositive();
  }

  @Tag("slow")
  @Test
  void onlyJobsThatMayMoveDo() {
    for (int seed = 0; seed < SCENES; seed++) {
      Snapshot snapshot = RandomScene.of(seed);
      Decision decision = new KastorPolicy(options(1)).decide(snapshot);
      assertThat(decision.draft().movedFor().size())
          .as("seed %d", seed)
          .isLessThanOrEqualTo(snapshot.nodes().size());
      for (int index : decision.draft().movedFor().keySet()) {
        JobState job = decision.bids().get(index).job;
        assertThat(job.spec().elasticity())
            .as("seed %d %s", seed, job.id())
            .isNotInstanceOf(Elasticity.Rigid.class);
        assertThat(job.pinned()).as("seed %d %s", seed, job.id()).isFalse();
      }
    }
  }
}
