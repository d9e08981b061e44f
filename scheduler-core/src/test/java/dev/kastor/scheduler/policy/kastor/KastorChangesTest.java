package dev.kastor.scheduler.policy.kastor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When and whether allocations change, on thousands of random clusters. */
final class KastorChangesTest {
  private static final int SCENES = 1500;

  @Tag("slow")
  @Test
  void isNeverWorseByItsOwnObjectiveThanKeepingTodaysAllocation() {
    int compared = 0;
    for (int seed = 0; seed < SCENES; seed++) {
      Snapshot snapshot = RandomScene.of(seed);
      Decision decision = new KastorPolicy(TestOptions.USUAL).decide(snapshot);
      List<Bid> open = decision.bids().stream().filter(b -> !decision.fixed().contains(b)).toList();
      if (stands(snapshot)) {
        double kept = Draft.ofHeld(open);
        assertThat(decision.draft().value())
            .as("seed %d", seed)
            .isGreaterThanOrEqualTo(kept * (1 - 1e-9));
        compared += kept > 0 ? 1 : 0;
      }
    }
    assertThat(compared).isGreaterThan(SCENES / 4);
  }

  /** Whether all nodes that jobs hold are there, with enough slots. */
  static boolean stands(Snapshot snapshot) {
    Map<String, Integer> left = new HashMap<>();
    snapshot.nodes().forEach(node -> left.put(node.name(), node.slots()));
    for (JobState job : snapshot.jobs()) {
      job.allocation()
          .slotsByNode()
          .forEach((node, slots) -> left.merge(node, -slots, Integer::sum));
    }
    return left.values().stream().allMatch(slots -> slots >= 0)
        && left.size() == snapshot.nodes().size();
  }

  @Tag("slow")
  @Test
  void leavesJobsAloneThatHaveOnlyJustChanged() {
    int fresh = 0;
    for (int seed = 0; seed < SCENES; seed++) {
      Snapshot snapshot = RandomScene.of(seed);
      Plan plan = new KastorPolicy(TestOptions.USUAL).plan(snapshot);
      for (JobState job : snapshot.jobs()) {
        boolean young =
            job.sinceChange().toSeconds() < TestOptions.USUAL.get(KastorPlugin.MINIMUM_RUN);
        if (young && stands(snapshot) && mayStay(job, snapshot)) {
          assertThat(plan.allocation(job.id()))
              .as("seed %d %s %s", seed, job.id(), plan.reason(job.id()))
              .isEqualTo(job.allocation());
          fresh++;
        }
      }
    }
    assertThat(fresh).isGreaterThan(SCENES / 10);
  }

  /** Whether it is known to get on with what it holds. */
  private static boolean mayStay(JobState job, Snapshot snapshot) {
    Pools pools = Pools.of(snapshot.nodes(), TestOptions.USUAL);
    Integer node =
        job.allocation().isEmpty() ? null : pools.indexByName().get(job.allocation().node(0));
    Offers offers = new OfferBook(TestOptions.USUAL).of(List.of(job), pools)[0];
    return node != null && offers.find(pools.poolOf()[node], job.allocation().slots()) >= 0;
  }

  @Tag("slow")
  @Test
  void leavesPinnedJobsAlone() {
    for (int seed = 0; seed < SCENES; seed++) {
      Snapshot snapshot = RandomScene.of(seed);
      Plan plan = new KastorPolicy(TestOptions.USUAL).plan(snapshot);
      for (JobState job : snapshot.jobs()) {
        if (job.pinned()) {
          Allocation given = plan.allocation(job.id());
          assertThat(given).as("seed %d %s", seed, job.id()).isEqualTo(job.allocation());
        }
      }
    }
  }

  @Tag("slow")
  @Test
  void isTheSameForTheSameSequenceOfSnapshots() {
    for (int seed = 0; seed < SCENES / 3; seed++) {
      KastorPolicy one = new KastorPolicy(TestOptions.USUAL);
      KastorPolicy other = new KastorPolicy(TestOptions.USUAL);
      Snapshot snapshot = RandomScene.of(seed);
      for (int round = 0; round < 3; round++) {
        Plan plan = one.plan(snapshot);
        assertThat(other.plan(snapshot)).as("seed %d round %d", seed, round).isEqualTo(plan);
        snapshot = RandomScene.after(snapshot, plan);
      }
    }
  }

  @Tag("slow")
  @Test
  void doesNotDependOnWhatItDecidedBefore() {
    for (int seed = 0; seed < SCENES / 3; seed++) {
      KastorPolicy experienced = new KastorPolicy(TestOptions.USUAL);
      Snapshot snapshot = RandomScene.of(seed);
      for (int round = 0; round < 3; round++) {
        Plan plan = experienced.plan(snapshot);
        assertThat(new KastorPolicy(TestOptions.USUAL).plan(snapshot))
            .as("seed %d round %d", seed, round)
            .isEqualTo(plan);
        snapshot = RandomScene.after(snapshot, plan);
      }
    }
  }

  @Tag("slow")
  @Test
  void comesToRestWhereNothingChanges() {
    int restless = 0;
    for (int seed = 0; seed < SCENES / 3; seed++) {
      KastorPolicy policy = new KastorPolicy(TestOptions.USUAL);
      Snapshot snapshot = RandomScene.of(seed);
      for (int round = 0; round < 6; round++) {
        snapshot = RandomScene.after(snapshot, policy.plan(snapshot));
      }
      Plan plan = policy.plan(snapshot);
      boolean same =
          snapshot.jobs().stream()
              .allMatch(job -> plan.allocation(job.id()).equals(job.allocation()));
      restless += same ? 0 : 1;
    }
    assertThat(restless).as("scenes that still change after six rounds").isLessThan(SCENES / 30);
  }

  @Tag("slow")
  @Test
  void leavesNoSlotsFreeThatAWaitingJobCouldTake() {
    for (int seed = 0; seed < SCENES; seed++) {
      Snapshot snapshot = RandomScene.of(seed);
      Plan plan = new KastorPolicy(TestOptions.USUAL).plan(snapshot);
      Pools pools = Pools.of(snapshot.nodes(), TestOptions.USUAL);
      Offers[] offers = new OfferBook(TestOptions.USUAL).of(snapshot.jobs(), pools);
      int[] free = snapshot.nodes().stream().mapToInt(Node::slots).toArray();
      for (JobState job : snapshot.jobs()) {
        Allocation given = plan.allocation(job.id());
        for (int i = 0; i < given.nodes(); i++) {
          Integer node = pools.indexByName().get(given.node(i));
          if (node != null) {
            free[node] -= given.slots(i);
          }
        }
      }
      for (int j = 0; j < offers.length; j++) {
        JobState job = snapshot.jobs().get(j);
        if (!job.pinned() && plan.allocation(job.id()).isEmpty()) {
          for (int o = 0; o < offers[j].count(); o++) {
            assertThat(offers[j].slots()[o])
                .as("seed %d: slots that %s could use", seed, job.id())
                .isGreaterThan(usable(job, offers[j].pool()[o], pools, free));
          }
        }
      }
    }
  }

  /** Free slots of a pool that are of use to a job. */
  private static int usable(JobState job, int pool, Pools pools, int[] free) {
    int each = job.spec().slotsPerReplica(pools.gpuType(pool));
    int usable = 0;
    for (int n = 0; n < free.length; n++) {
      usable += pools.poolOf()[n] == pool ? Math.max(0, free[n]) / each * each : 0;
    }
    return usable;
  }
}
