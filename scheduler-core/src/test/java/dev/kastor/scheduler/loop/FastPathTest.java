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
import dev.kastor.scheduler.plan.PlanDiff;
import dev.kastor.scheduler.plan.PlanViolation;
import dev.kastor.scheduler.plan.Policy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class FastPathTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Reason WHY = Reason.of("Test", ".");
  private static final List<Node> NODES = List.of(new Node("n0", "a", 4), new Node("n1", "a", 4));

  /** Puts each job that has nothing on the first node with room for its least size. */
  private static final class FirstFit implements Policy {
    private boolean ample = true;

    @Override
    public Plan plan(Snapshot snapshot) {
      Map<String, Integer> free = new HashMap<>();
      snapshot.nodes().forEach(node -> free.put(node.name(), node.slots()));
      snapshot
          .jobs()
          .forEach(job ->
              job.allocation()
                  .replicasByNode()
                  .forEach((node, slots) -> free.merge(node, -slots, Integer::sum)));
      SequencedMap<JobId, Plan.Assignment> given = new LinkedHashMap<>();
      for (JobState job : snapshot.jobs()) {
        Allocation allocation = job.allocation();
        for (int n = 0; n < snapshot.nodes().size() && allocation.isEmpty(); n++) {
          String node = snapshot.nodes().get(n).name();
          int least = job.spec().elasticity().min();
          if (free.getOrDefault(node, 0) >= least) {
            allocation = Allocation.on(node, least);
            free.merge(node, -least, Integer::sum);
          }
        }
        given.put(job.id(), new Plan.Assignment(allocation, WHY));
      }
      return new Plan(given, ample);
    }
  }

  private final FirstFit policy = new FirstFit();
  private final FastPath fastPath = new FastPath(policy);
  private Instant now = START;

  @Test
  void newcomersGetWhatIsLeft() {
    decided(job("old").on("n0", 3).build());
    Round round = serve(job("one").build(), job("two").build()).orElseThrow();
    assertThat(round.plan().allocation(id("one"))).isEqualTo(Allocation.on("n0", 1));
    assertThat(round.plan().allocation(id("two"))).isEqualTo(Allocation.on("n1", 1));
    assertThat(round.snapshot().jobs()).hasSize(2);
    assertThat(round.changes()).hasSize(2).allMatch(Change.Start.class::isInstance);
  }

  @Test
  void whatOneGotTheNextDoesNotGet() {
    decided(job("old").on("n0", 4).build());
    for (int j = 0; j < 4; j++) {
      assertThat(serve(job("new" + j).build())).isPresent();
    }
    assertThat(serve(job("late").build())).isEmpty();
  }

  @Test
  void allHaveToBeLookedAtBeforeTheFirstRoundAndWhereSomebodyStandsInTheWay() {
    assertThat(serve(job("new").build())).isEmpty();
    policy.ample = false;
    decided(job("old").on("n0", 1).build());
    assertThat(serve(job("new").build())).isEmpty();
    policy.ample = true;
    decided(job("old").on("n0", 1).build());
    policy.ample = false;
    assertThat(serve(job("new").build())).isEmpty();
  }

  @Test
  void aRefusedPlanLeavesNothing() {
    decided(job("old").on("n0", 1).build());
    Snapshot snapshot = snapshot(job("old").on("n0", 1).build());
    fastPath.roundFinished(
        new Round(
            snapshot,
            policy.plan(snapshot),
            List.of(new PlanViolation.UnknownJob(id("x"))),
            List.of(),
            0));
    assertThat(serve(job("new").build())).isEmpty();
  }

  @Test
  void aNodeThatWentIsNotUsed() {
    decided(job("old").on("n0", 1).build());
    assertThat(fastPath.tryPlace(now, List.of(job("new").build()), (job, node) -> false)).isEmpty();
    // Nothing was taken for it.
    for (int j = 0; j < 7; j++) {
      assertThat(serve(job("new" + j).build())).isPresent();
    }
  }

  @Test
  void aRoundThatLookedBeforeTakesNoSlotOfNewcomers() {
    decided(job("old").on("n0", 2).build());
    Snapshot before = snapshot(job("old").on("n0", 2).build());
    tick();
    assertThat(serve(job("new").build())).isPresent();
    Change grow = rescale("old", Allocation.on("n0", 2), Allocation.on("n0", 4));
    assertThat(fastPath.dropConflicting(before, List.of(grow))).isEmpty();
    Change less = rescale("old", Allocation.on("n0", 2), Allocation.on("n0", 3));
    assertThat(fastPath.dropConflicting(before, List.of(less))).containsExactly(less);
  }

  @Test
  void whoDoesNotLeaveKeepsOthersOut() {
    decided(job("mover").on("n0", 3).build(), job("other").on("n1", 2).build());
    Snapshot before = snapshot(job("mover").on("n0", 3).build(), job("other").on("n1", 2).build());
    tick();
    assertThat(serve(job("new").replicas(2, 2).build()).orElseThrow().plan().allocation(id("new")))
        .isEqualTo(Allocation.on("n1", 2));
    // The mover finds n1 full, so that nobody may have what it was to leave.
    Change move = new Change.Migrate(id("mover"), on("n0", 3), on("n1", 3), WHY);
    Change swap = new Change.Migrate(id("other"), on("n1", 2), on("n0", 2), WHY);
    assertThat(fastPath.dropConflicting(before, List.of(move, swap))).isEmpty();
  }

  @Test
  void newcomersAreForgottenOnceARoundKnowsThem() {
    decided(job("old").on("n0", 2).build());
    assertThat(serve(job("new").replicas(2, 2).build())).isPresent();
    tick();
    // It is gone again: the round does not see it.
    decided(job("old").on("n0", 2).build());
    assertThat(
            serve(job("next").replicas(2, 2).build()).orElseThrow().plan().allocation(id("next")))
        .isEqualTo(Allocation.on("n0", 2));
  }

  @Test
  void whoWasServedIsNotStartedAgain() {
    decided(job("old").on("n0", 2).build());
    Snapshot before = snapshot(job("old").on("n0", 2).build(), job("new").build());
    tick();
    assertThat(serve(job("new").build())).isPresent();
    Change start = new Change.Start(id("new"), on("n1", 4), WHY);
    assertThat(fastPath.dropConflicting(before, List.of(start))).isEmpty();
  }

  @Test
  void aRoundThatLooksBeforeItIsShownLeavesANewcomerAlone() {
    decided(job("old").on("n0", 2).build());
    Round given =
        fastPath
            .tryPlace(now, List.of(job("new").replicas(2, 2).build()), (job, node) -> true)
            .orElseThrow();
    tick();
    Snapshot later = snapshot(job("old").on("n0", 2).build(), job("new").replicas(2, 2).build());
    Change start = new Change.Start(id("new"), on("n1", 2), WHY);
    Change grow = rescale("old", on("n0", 2), on("n0", 3));
    assertThat(fastPath.dropConflicting(later, List.of(start, grow))).isEmpty();
    fastPath.confirmVisible(given, now);
    tick();
    // It was not stored: who looks now sees a job that waits like any other.
    Snapshot after = snapshot(job("old").on("n0", 2).build(), job("new").replicas(2, 2).build());
    assertThat(fastPath.dropConflicting(after, List.of(start, grow))).containsExactly(start, grow);
  }

  /** Who looks in the instant in which it was shown may have looked just before. */
  @Test
  void aRoundThatLooksInTheInstantInWhichItIsShownLeavesANewcomerAlone() {
    decided(job("old").on("n0", 2).build());
    assertThat(serve(job("new").replicas(2, 2).build())).isPresent();
    Snapshot same = snapshot(job("old").on("n0", 2).build(), job("new").replicas(2, 2).build());
    Change start = new Change.Start(id("new"), on("n1", 2), WHY);
    Change grow = rescale("old", on("n0", 2), on("n0", 3));
    assertThat(fastPath.dropConflicting(same, List.of(start, grow))).isEmpty();
    now = now.plusNanos(1);
    Snapshot after = snapshot(job("old").on("n0", 2).build(), job("new").replicas(2, 2).build());
    assertThat(fastPath.dropConflicting(after, List.of(start, grow))).containsExactly(start, grow);
  }

  @Test
  void whomARoundStartedIsNotServedToo() {
    decided(job("old").on("n0", 2).build());
    Snapshot with = snapshot(job("old").on("n0", 2).build(), job("new").build());
    Change start = new Change.Start(id("new"), on("n1", 1), WHY);
    assertThat(fastPath.dropConflicting(with, List.of(start))).containsExactly(start);
    // Whoever asks has looked at the job before it was started.
    assertThat(serve(job("new").build())).isEmpty();
    assertThat(serve(job("other").build())).isPresent();
  }

  /** Rounds and newcomers in any order, each round with a look that is some newcomers old. */
  @Tag("slow")
  @Test
  void noNodeEverHoldsMoreThanItHas() {
    int served = 0;
    int dropped = 0;
    for (int seed = 0; seed < 500; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      FastPath book = new FastPath(policy);
      Map<JobId, JobState> jobs = new LinkedHashMap<>();
      Map<JobId, Round> unseen = new LinkedHashMap<>();
      int number = 0;
      for (int step = 0; step < 20; step++) {
        tick();
        Snapshot seen = new Snapshot(now, NODES, List.copyOf(jobs.values()));
        List<Change> changes = PlanDiff.changes(seen, wild(seen, random));
        for (int j = random.nextInt(3); j > 0; j--) {
          tick();
          JobState one = job("j" + number++).replicas(1 + random.nextInt(3), 4).build();
          var round = book.tryPlace(now, List.of(one), (job, node) -> true);
          if (round.isPresent()) {
            served++;
            jobs.put(one.id(), one);
            unseen.put(one.id(), round.get());
          }
        }
        List<Change> fitting = book.dropConflicting(seen, changes);
        dropped += changes.size() - fitting.size();
        fitting.forEach(
            change -> jobs.computeIfPresent(change.job(), (id, job) -> with(job, change.to())));
        Map<String, Integer> use = new HashMap<>();
        for (JobState job : jobs.values()) {
          Round given = unseen.get(job.id());
          assertThat(given == null || job.allocation().isEmpty()).as("decided on once").isTrue();
          (given == null ? job.allocation() : given.plan().allocation(job.id()))
              .replicasByNode()
              .forEach((node, slots) -> use.merge(node, slots, Integer::sum));
        }
        assertThat(use.values()).as("seed %d step %d", seed, step).allMatch(slots -> slots <= 4);
        unseen
            .entrySet()
            .removeIf(entry -> {
              if (random.nextBoolean()) {
                return false;
              }
              JobId id = entry.getKey();
              jobs.computeIfPresent(
                  id, (same, job) -> with(job, entry.getValue().plan().allocation(id)));
              book.confirmVisible(entry.getValue(), now);
              return true;
            });
        book.roundFinished(
            new Round(seen, new Plan(new LinkedHashMap<>(), true), List.of(), fitting, 0));
        if (random.nextInt(4) == 0 && !jobs.isEmpty()) {
          jobs.remove(jobs.keySet().iterator().next());
        }
      }
    }
    assertThat(served).isGreaterThan(1000);
    assertThat(dropped).isGreaterThan(100);
  }

  /** Any plan that keeps to the nodes. */
  private static Plan wild(Snapshot snapshot, SplittableRandom random) {
    Map<String, Integer> free = new HashMap<>(Map.of("n0", 4, "n1", 4));
    SequencedMap<JobId, Plan.Assignment> given = new LinkedHashMap<>();
    List<JobState> order = new ArrayList<>(snapshot.jobs());
    for (JobState job : order) {
      String node = "n" + random.nextInt(2);
      int slots = Math.min(free.getOrDefault(node, 0), random.nextInt(4));
      free.merge(node, -slots, Integer::sum);
      given.put(
          job.id(),
          new Plan.Assignment(slots == 0 ? Allocation.NONE : Allocation.on(node, slots), WHY));
    }
    return new Plan(given);
  }

  private static JobState with(JobState job, Allocation allocation) {
    return job(job.id().name()).on(allocation).build();
  }

  private Optional<Round> serve(JobState... newcomers) {
    Optional<Round> round = fastPath.tryPlace(now, List.of(newcomers), (job, node) -> true);
    round.ifPresent(given -> fastPath.confirmVisible(given, now));
    return round;
  }

  private void decided(JobState... jobs) {
    Snapshot snapshot = snapshot(jobs);
    assertThat(fastPath.dropConflicting(snapshot, List.of())).isEmpty();
    fastPath.roundFinished(new Round(snapshot, policy.plan(snapshot), List.of(), List.of(), 0));
  }

  private Snapshot snapshot(JobState... jobs) {
    return new Snapshot(now, NODES, List.of(jobs));
  }

  private void tick() {
    now = now.plusSeconds(1);
  }

  private static Change rescale(String job, Allocation from, Allocation to) {
    return new Change.Rescale(id(job), from, to, WHY);
  }

  private static Allocation on(String node, int slots) {
    return Allocation.on(node, slots);
  }

  private static JobId id(String name) {
    return new JobId("test", name);
  }
}
