package dev.kastor.scheduler.policy.kastor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.loop.Cluster;
import dev.kastor.scheduler.loop.Round;
import dev.kastor.scheduler.loop.SchedulingLoop;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanDiff;
import dev.kastor.scheduler.plan.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jobs that come where there is enough for all, decided on alone and with all others. */
final class NewcomersTest {
  private static final int SCENES = 6000;

  /** Pools whose goodput differs by less than a millionth are one to a market that has prices. */
  private static final Percentage WORTH_THE_SAME = Percentage.withPercentage(1e-3);

  @Tag("slow")
  @Test
  void getAloneWhatARoundOverAllGivesThem() {
    int ample = 0;
    int served = 0;
    int disturbs = 0;
    for (int seed = 0; seed < SCENES; seed++) {
      Snapshot scene = RandomScene.of(seed);
      Snapshot few = with(scene, scene.jobs().subList(0, Math.min(2, scene.jobs().size())));
      KastorPolicy policy = new KastorPolicy(TestOptions.USUAL);
      Snapshot rested = few;
      for (int round = 0; round < 4; round++) {
        rested = RandomScene.after(rested, policy.plan(rested));
      }
      Snapshot after = rested;
      Plan plan = policy.plan(after);
      List<Change> changes = PlanDiff.changes(after, plan);
      if (!plan.ample()
          || !changes.isEmpty()
          || !KastorChangesTest.stands(after)
          || !eachInOnePool(after)) {
        continue;
      }
      ample++;
      SchedulingLoop loop = afterRound(after, plan);
      JobState newcomer = newcomer(RandomScene.of(seed + SCENES).jobs().getFirst());
      Optional<Round> alone =
          loop.fastPath().tryPlace(after.now(), List.of(newcomer), (job, node) -> true);
      if (alone.isEmpty()) {
        continue;
      }
      served++;
      List<JobState> all = new ArrayList<>(after.jobs());
      all.add(newcomer);
      Plan together = policy.plan(with(after, all));
      assertThat(goodput(alone.get().plan(), newcomer))
          .as("seed %d", seed)
          .isCloseTo(goodput(together, newcomer), WORTH_THE_SAME);
      boolean disturbed = false;
      for (JobState job : after.jobs()) {
        disturbed |= goodput(together, job) < goodput(plan, job) * (1 - 1e-5);
      }
      disturbs += disturbed ? 1 : 0;
    }
    // Between several pools a market now and then moves somebody for whom nothing is in it.
    assertThat(disturbs).isLessThan(served / 200);
    assertThat(ample).isGreaterThan(SCENES / 2);
    assertThat(served).isGreaterThan(SCENES / 4);
  }

  /**
   * Whether no job lies on nodes of two prices: prices count all that it holds in the pool of its
   * first node, and leave less of that to others than there is.
   */
  private static boolean eachInOnePool(Snapshot snapshot) {
    Pools pools = Pools.of(snapshot.nodes(), TestOptions.USUAL);
    return snapshot.jobs().stream()
        .map(JobState::allocation)
        .allMatch(held ->
            held.replicasByNode().keySet().stream()
                    .map(node -> pools.poolOf()[pools.indexByName().getOrDefault(node, -1)])
                    .distinct()
                    .count()
                <= 1);
  }

  /** Which nodes of equal worth it gets may differ. */
  private static double goodput(Plan plan, JobState job) {
    return plan.reason(job.id()).numbers().getOrDefault("goodput", 0.0);
  }

  private static Snapshot with(Snapshot snapshot, List<JobState> jobs) {
    return new Snapshot(snapshot.now(), snapshot.nodes(), jobs, snapshot.queues());
  }

  private static JobState newcomer(JobState job) {
    JobSpec spec = job.spec();
    JobSpec renamed =
        new JobSpec(
            new JobId("test", "newcomer"),
            spec.submitted(),
            spec.family(),
            spec.elasticity(),
            spec.requestedReplicas(),
            spec.batchLimits(),
            spec.gpuType(),
            spec.byGpuType(),
            spec.queue(),
            spec.priority(),
            spec.slotsPerReplica(),
            spec.mostExamples());
    return new JobState(
        renamed,
        Allocation.NONE,
        job.model(),
        job.maxProfiledReplicas(),
        job.progress(),
        job.age(),
        0,
        0,
        job.rescaleCost(),
        job.restartCost(),
        java.time.Duration.ZERO,
        false,
        false,
        job.outlook(),
        Optional.empty());
  }

  /** A loop whose newest round saw this and decided that. */
  private static SchedulingLoop afterRound(Snapshot seen, Plan decided) {
    Cluster still =
        new Cluster() {
          @Override
          public Snapshot observe() {
            return seen;
          }

          @Override
          public void apply(List<Change> changes) {
            throw new AssertionError("a plan without changes changes " + changes);
          }
        };
    Policy fixed =
        new Policy() {
          @Override
          public Plan plan(Snapshot snapshot) {
            return decided;
          }
        };
    SchedulingLoop loop = new SchedulingLoop(still, fixed, new KastorPolicy(TestOptions.USUAL));
    assertThat(loop.tick().violations()).isEmpty();
    return loop;
  }
}
