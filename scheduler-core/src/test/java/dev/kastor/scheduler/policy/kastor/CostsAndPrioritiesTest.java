package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Costs that jobs tell of changes and stops, against priorities. */
final class CostsAndPrioritiesTest {
  private static final int SCENES = 200;
  private static final int MANY_SCENES = 1500;
  private static final int HIGH = 1000;

  /** Who has waited long for his share may come before others of any priority. */
  private static final Duration AGE = Duration.ZERO;

  /** The same slots may lie on other nodes, and a step take a little longer there. */
  private static final double PLACED_OTHERWISE = 0.98;

  private static Plan plan(Snapshot snapshot) {
    return new KastorPolicy(TestOptions.USUAL).plan(snapshot);
  }

  private static TestJob holder(long pauseSeconds) {
    return job("holder")
        .model(TestJob.SCALABLE, 8)
        .steps(10, 100_000)
        .age(Duration.ofMinutes(2))
        .sinceChange(Duration.ofMinutes(2))
        .rescaleCost(Duration.ofSeconds(pauseSeconds))
        .priority(-1000)
        .on("n0", 8);
  }

  @ParameterizedTest
  @ValueSource(longs = {2, 60, 600, 1_000_000_000})
  void aPauseKeepsNothingFromAHigherPriority(long pauseSeconds) {
    JobState low = holder(pauseSeconds).build();
    JobState high = job("high").model(TestJob.SCALABLE, 8).steps(0, 100_000).priority(HIGH).build();
    Plan plan =
        plan(new Snapshot(Instant.EPOCH, List.of(new Node("n0", "a", 8)), List.of(low, high)));
    assertThat(plan.allocation(high.id()).replicas()).isEqualTo(8);
  }

  /** Each level counts little where there are a thousand of them. */
  @Test
  void norDoesItAmongManyLevels() {
    List<JobState> jobs = new ArrayList<>();
    jobs.add(holder(600).build());
    for (int level = 0; level < 200; level++) {
      jobs.add(job("pinned-" + level).priority(level - 999).on("n1", 1).pinned().build());
    }
    JobState high =
        job("high").model(TestJob.SCALABLE, 8).steps(10, 100_000).priority(-999).build();
    jobs.add(high);
    List<Node> nodes = List.of(new Node("n0", "a", 8), new Node("n1", "a", 200));
    Plan plan = plan(new Snapshot(Instant.EPOCH, nodes, jobs));
    Plan free = plan(with(new Snapshot(Instant.EPOCH, nodes, jobs), Duration.ZERO));
    assertThat(plan.allocation(high.id()).replicas())
        .as("as much as were changes free")
        .isGreaterThanOrEqualTo(free.allocation(high.id()).replicas());
  }

  @Tag("slow")
  @Test
  void inNoSceneDoLowerJobsGainByTheirCostsOverAHigherOne() {
    lowerJobsGainNothing(SCENES);
  }

  @Test
  @Tag("nightly")
  void inNoneOfManyScenesDoLowerJobsGainByTheirCostsOverAHigherOne() {
    lowerJobsGainNothing(MANY_SCENES);
  }

  private static void lowerJobsGainNothing(int scenes) {
    for (long seed = 0; seed < scenes; seed++) {
      Snapshot drawn = raised(RandomScene.of(seed), (int) (seed % 3));
      double free = speed(drawn, plan(with(drawn, Duration.ZERO)));
      for (long pause : new long[] {20, 600, 3600}) {
        Snapshot costly = with(drawn, Duration.ofSeconds(pause));
        assertThat(speed(costly, plan(costly)))
            .as("scene %d with pauses of %d s", seed, pause)
            .isGreaterThanOrEqualTo(free * PLACED_OTHERWISE);
      }
    }
  }

  /** One job of a higher priority, the others of one or of several lower ones. */
  private static Snapshot raised(Snapshot drawn, int levels) {
    List<JobState> jobs = new ArrayList<>();
    int highest = drawn.jobs().size() / 2;
    for (int j = 0; j < drawn.jobs().size(); j++) {
      JobState job = drawn.jobs().get(j);
      int priority = j == highest ? HIGH : levels == 0 ? 0 : j % (1 + levels);
      jobs.add(copy(job, priority, job.rescaleCost(), job.restartCost()));
    }
    return new Snapshot(drawn.now(), drawn.nodes(), jobs, drawn.queues());
  }

  /** Changes cost those of lower priority who hold something so much, and nobody else. */
  private static Snapshot with(Snapshot snapshot, Duration cost) {
    List<JobState> jobs = new ArrayList<>();
    for (JobState job : snapshot.jobs()) {
      int priority = job.spec().priority();
      boolean free = priority == HIGH || job.allocation().isEmpty();
      jobs.add(copy(job, priority, free ? Duration.ZERO : cost, free ? Duration.ZERO : cost));
    }
    return new Snapshot(snapshot.now(), snapshot.nodes(), jobs, snapshot.queues());
  }

  private static JobState copy(JobState job, int priority, Duration rescale, Duration restart) {
    return new JobState(
        job.spec().queued(job.spec().queue(), priority),
        job.allocation(),
        job.model(),
        job.maxProfiledReplicas(),
        job.progress(),
        AGE,
        job.attainedService(),
        job.restarts(),
        rescale,
        restart,
        job.sinceChange(),
        job.pinned(),
        job.restarting(),
        job.outlook(),
        job.foresight());
  }

  private static double speed(Snapshot snapshot, Plan plan) {
    Pools pools = Pools.of(snapshot.nodes(), TestOptions.USUAL);
    double sum = 0;
    for (JobState job : snapshot.jobs()) {
      if (job.spec().priority() == HIGH && !plan.allocation(job.id()).isEmpty()) {
        var given = plan.allocation(job.id());
        Integer node = pools.indexByName().get(given.node(0));
        sum +=
            node == null
                ? 0
                : Rates.rate(job, pools, pools.poolOf()[node], given.slots(), given.nodes());
      }
    }
    return sum;
  }
}
