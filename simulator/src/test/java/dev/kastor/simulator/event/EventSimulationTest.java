package dev.kastor.simulator.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.replay.Sample;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("slow")
final class EventSimulationTest {
  private static final EventSettings EXACT = EventSettings.defaults().withTimingNoise(0);

  private static final Map<String, Application> APPLICATIONS =
      Map.of("linear", PlainApplication.linear(1000), "elastic", PlainApplication.elastic(20_000));

  static Stream<String> policies() {
    return Policies.names().stream();
  }

  private static Workload.Job job(String name, double submit, String application, int replicas) {
    return new Workload.Job(
        name, submit, application, 1, 8, replicas, 0, Workload.Category.ADAPTIVE);
  }

  private static Workload workload(Workload.Job... jobs) {
    return new Workload("test", List.of(jobs));
  }

  /** Twelve jobs that come faster than eight GPUs can serve. */
  private static Workload burst() {
    SplittableRandom random = new SplittableRandom(3);
    List<Workload.Job> jobs = new ArrayList<>();
    double at = 0;
    for (int i = 0; i < 12; i++) {
      jobs.add(
          job(
              "job-%02d".formatted(i),
              at,
              random.nextBoolean() ? "linear" : "elastic",
              1 + random.nextInt(4)));
      at += random.nextInt(120);
    }
    return new Workload("burst", jobs);
  }

  private static Replay replay(
      EventSettings settings, String cluster, Workload workload, String policy, long seed) {
    return new EventSimulation(
            settings,
            ClusterShape.parse(cluster),
            workload,
            APPLICATIONS,
            Policies.factory(policy, PolicyContext.online(seed)),
            seed,
            (seconds, done, all) -> {})
        .run();
  }

  private static double seconds(Replay replay) {
    return replay.jobs().getFirst().completionSeconds();
  }

  @ParameterizedTest
  @MethodSource("policies")
  @Tag("never-retried")
  void finishesEveryJobAndHoldsNoMoreGpusThanThereAre(String policy) {
    Workload workload = burst();
    Replay replay = replay(EventSettings.defaults(), "2x4", workload, policy, 1);
    assertThat(replay.jobs())
        .extracting(Replay.Completed::name)
        .containsExactlyElementsOf(workload.jobs().stream().map(Workload.Job::name).toList());
    assertThat(replay.jobs())
        .allSatisfy(job -> {
          assertThat(job.startSeconds()).isGreaterThanOrEqualTo(job.submitSeconds());
          assertThat(job.finishSeconds()).isGreaterThan(job.startSeconds());
          assertThat(job.slotSeconds()).isPositive();
        });
    assertThat(replay.samples())
        .isNotEmpty()
        .allSatisfy(sample -> {
          assertThat(sample.gpusInUse()).isBetween(0, sample.gpus());
          assertThat(sample.runningJobs()).isLessThanOrEqualTo(sample.activeJobs());
          assertThat(sample.gpusByApplication().values().stream().mapToInt(g -> g).sum())
              .isEqualTo(sample.gpusInUse());
        });
    // Sums of times that were rounded each: a cluster busy to its end may come out an ulp above.
    assertThat(replay.gpuHours() * 3600)
        .isLessThanOrEqualTo(8 * replay.makespanSeconds() * (1 + 1e-12));
  }

  /** Replicas of one, two and four GPUs on nodes that they do not divide. */
  @ParameterizedTest
  @MethodSource("policies")
  void finishesJobsWhoseReplicasTakeSeveralGpus(String policy) {
    List<Workload.Job> jobs = new ArrayList<>();
    for (Workload.Job job : burst().jobs()) {
      jobs.add(job.atMost(4).withSlotsPerReplica(1 << jobs.size() % 3));
    }
    Replay replay =
        replay(EventSettings.defaults(), "3x6,1x5", new Workload("mixed", jobs), policy, 1);
    assertThat(replay.jobs()).hasSize(jobs.size());
    assertThat(replay.samples())
        .allSatisfy(sample -> assertThat(sample.gpusInUse()).isBetween(0, sample.gpus()));
    assertThat(replay.samples())
        .as("more GPUs than one for each replica")
        .anyMatch(sample -> sample.gpusInUse() > 4 * sample.runningJobs());
  }

  /** What a replica is made of is in its step time: GPUs that it holds count in service alone. */
  @Test
  void aReplicaOfFourGpusTrainsAsItsStepTimeSaysAndIsServedFourfold() {
    Workload.Job one = new Workload.Job("a", 0, "linear", 2, 2, 2, 0, Workload.Category.RIGID);
    Replay small = replay(EXACT, "2x4", workload(one), "fifo", 1);
    Replay large = replay(EXACT, "2x4", workload(one.withSlotsPerReplica(4)), "fifo", 1);
    assertThat(small.jobs().getFirst().slotSeconds()).isEqualTo(2 * seconds(small));
    assertThat(large.jobs().getFirst().slotSeconds()).isEqualTo(8 * seconds(large));
    // On two nodes instead of one, which this application does not feel.
    assertThat(seconds(large)).isEqualTo(seconds(small));
  }

  @ParameterizedTest
  @MethodSource("policies")
  @Tag("never-retried")
  void sameSeedGivesTheSameReplay(String policy) {
    EventSettings rough =
        EventSettings.defaults()
            .withInterference(0.3)
            .withFailures(
                new NodeFailures(Duration.ofHours(1), Duration.ofMinutes(5)),
                Duration.ofMinutes(5));
    Replay one = replay(rough, "3x4", burst(), policy, 5);
    Replay other = replay(rough, "3x4", burst(), policy, 5);
    assertThat(other.jobs()).isEqualTo(one.jobs());
    assertThat(other.samples()).isEqualTo(one.samples());
  }

  @Test
  void anotherSeedBreaksOtherNodes() {
    EventSettings failing =
        EXACT.withFailures(
            new NodeFailures(Duration.ofMinutes(20), Duration.ofMinutes(1)), Duration.ofMinutes(1));
    assertThat(replay(failing, "2x4", burst(), "fifo", 1).jobs())
        .isNotEqualTo(replay(failing, "2x4", burst(), "fifo", 2).jobs());
  }

  @Test
  void aJobTakesItsStartAndItsSteps() {
    // 1000 steps of a second on one GPU; a quarter of that on four.
    Replay one = replay(EXACT, "1x4", workload(job("a", 100.5, "linear", 1)), "fifo", 1);
    assertThat(seconds(one)).isCloseTo(30 + 1000, within(1e-4));
    assertThat(one.averageWaitSeconds()).isZero();
    assertThat(one.restarts()).isZero();
    Replay four = replay(EXACT, "1x4", workload(job("a", 100.5, "linear", 4)), "fifo", 1);
    assertThat(seconds(four)).isCloseTo(30 + 250, within(1e-4));
    assertThat(four.gpuHours() * 3600).isCloseTo(4 * 280, within(1e-6));
  }

  @Test
  void theGainOfEachEpochCounts() {
    // Requested batch 256 on one replica: four times M0, gains by the noise of each epoch.
    Workload.Job asked =
        new Workload.Job("a", 0, "elastic", 1, 8, 1, 256, Workload.Category.ADAPTIVE);
    PlainApplication elastic = PlainApplication.elastic(20_000);
    double steps = 0;
    for (int e = 0; e < 20; e++) {
      double noise = 10 * (1 + e);
      steps += 1000 / ((noise + 1) / (noise / 4 + 1));
    }
    double pass = 0.02 + 0.002 * 128;
    // A lone replica above M0 accumulates once, so that its noise can be measured.
    assertThat(seconds(replay(EXACT, "1x4", workload(asked), "fifo", 1)))
        .isCloseTo(30 + steps * 2 * pass, within(1e-6));
    assertThat(elastic.remainingSteps(256, 0)).isCloseTo(steps, within(1e-6));
  }

  @Test
  void aSecondJobWaitsForTheFirstToTheSecond() {
    Replay replay =
        replay(
            EXACT, "1x4", workload(job("a", 0, "linear", 4), job("b", 10, "linear", 4)), "fifo", 1);
    assertThat(replay.jobs().get(0).finishSeconds()).isCloseTo(280, within(1e-6));
    assertThat(replay.jobs().get(1).startSeconds()).isCloseTo(280, within(1e-6));
    assertThat(replay.jobs().get(1).finishSeconds()).isCloseTo(560, within(1e-6));
  }

  @Test
  void decisionsKeepTheirDistance() {
    EventSettings slow = EXACT.withDecisions(Duration.ofSeconds(40), Duration.ofSeconds(60));
    Replay replay =
        replay(
            slow, "1x4", workload(job("a", 5, "linear", 1), job("b", 6, "linear", 1)), "srtf", 1);
    assertThat(replay.jobs().get(0).startSeconds()).isEqualTo(5);
    assertThat(replay.jobs().get(1).startSeconds()).isEqualTo(45);
    List<Double> at = replay.samples().stream().map(Sample::seconds).toList();
    for (int i = 1; i < at.size(); i++) {
      assertThat(at.get(i) - at.get(i - 1)).isBetween(40.0 - 1e-9, 60.0 + 1e-9);
    }
  }

  @Test
  void aNewJobIsPlacedBetweenDecisionsWhereThereIsEnoughForAll() {
    EventSettings slow = EXACT.withDecisions(Duration.ofSeconds(40), Duration.ofSeconds(60));
    Workload three =
        workload(job("a", 5, "linear", 1), job("b", 6, "linear", 1), job("c", 7, "linear", 3));
    Replay replay = replay(slow, "1x4", three, "fifo", 1);
    assertThat(replay.jobs().get(0).startSeconds()).isEqualTo(5);
    assertThat(replay.jobs().get(1).startSeconds()).as("by the fast path").isEqualTo(6);
    assertThat(replay.jobs().get(2).startSeconds()).as("when a has ended").isGreaterThan(1000);
  }

  @Test
  void aJobThatRestartsForARescalePausesAsForAStart() {
    Workload.Job a = job("a", 0, "linear", 1);
    Workload.Job b = job("b", 500, "linear", 1);
    EventSettings free = EXACT.withLiveRescale(LiveRescale.withoutStart(Duration.ZERO));
    Replay live = replay(free, "1x2", workload(a, b), "optimus", 1);
    Replay restarts =
        replay(free, "1x2", workload(a.in(Workload.Category.RESTART), b), "optimus", 1);
    Replay.Completed before = live.jobs().getFirst();
    Replay.Completed after = restarts.jobs().getFirst();
    assertThat(after.restarts()).isEqualTo(before.restarts()).isEqualTo(1);
    assertThat(after.finishSeconds() - before.finishSeconds()).isCloseTo(30, within(1e-6));
  }

  @Test
  void aRescaleCostsItsPauseOnce() {
    // Optimus gives b the GPU that a grew to: each rescale of a pauses it for the stated time.
    Workload two = workload(job("a", 0, "linear", 1), job("b", 500, "linear", 1));
    Replay free =
        replay(
            EXACT.withLiveRescale(LiveRescale.withoutStart(Duration.ZERO)),
            "1x2",
            two,
            "optimus",
            1);
    Replay paid =
        replay(
            EXACT.withLiveRescale(LiveRescale.withoutStart(Duration.ofSeconds(7))),
            "1x2",
            two,
            "optimus",
            1);
    Replay.Completed before = free.jobs().getFirst();
    Replay.Completed after = paid.jobs().getFirst();
    assertThat(before.restarts()).isEqualTo(1);
    assertThat(after.restarts()).isEqualTo(1);
    assertThat(after.finishSeconds() - before.finishSeconds()).isCloseTo(7, within(1e-6));
  }

  /** With twice the GPUs a job is twice as fast: in the time of a start it loses half of that. */
  @ParameterizedTest
  @ValueSource(ints = {0, 7, 40, 90})
  void replicasThatAreAddedStartWhileTheOthersTrain(int seconds) {
    Map<String, Application> longer = Map.of("long", PlainApplication.linear(3000).named("long"));
    Workload two = workload(job("a", 0, "long", 1), job("b", 0, "linear", 1));
    LiveRescale atOnce = LiveRescale.withoutStart(Duration.ofSeconds(2));
    LiveRescale later = new LiveRescale(Duration.ofSeconds(2), Duration.ofSeconds(seconds));
    Replay.Completed before = optimus(atOnce, two, longer);
    Replay.Completed after = optimus(later, two, longer);
    assertThat(before.restarts()).isEqualTo(1);
    assertThat(after.restarts()).isEqualTo(1);
    assertThat(after.finishSeconds() - before.finishSeconds())
        .isCloseTo(seconds / 2.0, within(1e-6));
  }

  private static Replay.Completed optimus(
      LiveRescale costs, Workload workload, Map<String, Application> more) {
    Map<String, Application> applications = new HashMap<>(APPLICATIONS);
    applications.putAll(more);
    return new EventSimulation(
            EXACT.withLiveRescale(costs),
            ClusterShape.parse("1x2"),
            workload,
            applications,
            Policies.factory("optimus", PolicyContext.online(1)),
            1,
            (done, all, at) -> {})
        .run()
        .jobs()
        .getFirst();
  }

  @Test
  void aResumedJobPaysItsApplicationsRestart() {
    // Tiresias stops the long job when it has had 16 GPU-hours and a fresh one comes.
    Map<String, Application> long1 =
        Map.of(
            "linear", PlainApplication.linear(1000),
            "long", PlainApplication.linear(400_000).named("long"));
    Workload two = workload(job("a", 0, "long", 4), job("b", 20_000, "linear", 4));
    Replay replay =
        new EventSimulation(
                EXACT,
                ClusterShape.parse("1x4"),
                two,
                long1,
                Policies.factory("tiresias", PolicyContext.online(1)),
                1,
                (seconds, done, all) -> {})
            .run();
    assertThat(replay.jobs().get(1).completionSeconds()).isCloseTo(280, within(1e-6));
    assertThat(replay.jobs().get(0).completionSeconds())
        .isCloseTo(30 + 100_000 + 280 + 30, within(1e-6));
    assertThat(replay.restarts()).isEqualTo(1);
  }

  @Test
  void aFailureUndoesAtMostOneCheckpointInterval() {
    Duration interval = Duration.ofSeconds(50);
    EventSettings failing =
        EXACT.withFailures(
            new NodeFailures(Duration.ofMinutes(10), Duration.ofSeconds(20)), interval);
    for (long seed = 1; seed <= 20; seed++) {
      Replay replay = replay(failing, "2x4", workload(job("a", 0, "linear", 4)), "fifo", seed);
      Replay.Completed job = replay.jobs().getFirst();
      double held = job.slotSeconds() / 4;
      int failures = job.restarts();
      // All time with GPUs is a start, work that counts, or work that a failure undid.
      double undone = held - 250 - 30 * (failures + 1);
      assertThat(undone).as("seed %d", seed).isLessThanOrEqualTo(failures * 50.0 + 1e-6);
      // A failure in the pause of a start takes only what was left of it.
      assertThat(undone).as("seed %d", seed).isGreaterThanOrEqualTo(-30.0 * failures - 1e-6);
    }
    assertThat(
            Stream.iterate(1L, s -> s + 1)
                .limit(20)
                .mapToInt(s ->
                    replay(failing, "2x4", workload(job("a", 0, "linear", 4)), "fifo", s)
                        .restarts())
                .sum())
        .isPositive();
  }

  @Test
  void neighboursOverSeveralNodesTakeTheStatedShare() {
    // Each job needs six of eight GPUs in pairs of nodes: both span nodes and share one.
    Workload two =
        workload(
            new Workload.Job("a", 0, "linear", 1, 8, 5, 0, Workload.Category.ADAPTIVE),
            new Workload.Job("b", 0, "linear", 1, 8, 5, 0, Workload.Category.ADAPTIVE));
    Replay calm = replay(EXACT, "3x4", two, "fifo", 1);
    Replay rough = replay(EXACT.withInterference(0.5), "3x4", two, "fifo", 1);
    double alone = seconds(calm) - 30;
    assertThat(seconds(rough) - 30).isCloseTo(2 * alone, within(1e-6));
  }

  @Test
  void nodesThatLeaveSendTheirJobsElsewhereWithAllTheyTrained() {
    EventSettings shrinking =
        EXACT.withResizes(List.of(new Resize(Duration.ofSeconds(130), "", 1)));
    Workload two = workload(job("a", 0, "linear", 4), job("b", 0, "linear", 4));
    Replay replay = replay(shrinking, "2x4", two, "fifo", 1);
    assertThat(replay.jobs().get(0).finishSeconds()).isCloseTo(280, within(1e-6));
    // b trained 100 s, waits from 130 to 280, starts again and has 150 s to go.
    assertThat(replay.jobs().get(1).finishSeconds()).isCloseTo(280 + 30 + 150, within(1e-6));
    assertThat(replay.samples().getLast().gpus()).isEqualTo(4);
  }

  @Test
  void nodesThatJoinAreUsedAtOnce() {
    EventSettings growing = EXACT.withResizes(List.of(new Resize(Duration.ofSeconds(100), "", 2)));
    Workload two = workload(job("a", 0, "linear", 4), job("b", 0, "linear", 4));
    Replay replay = replay(growing, "1x4", two, "fifo", 1);
    assertThat(replay.jobs().get(1).startSeconds()).isCloseTo(100, within(1e-6));
  }

  @ParameterizedTest
  @MethodSource("policies")
  void moreNodesNeverSlowALinearJob(String policy) {
    Workload one = workload(job("a", 0, "linear", 2));
    double last = Double.POSITIVE_INFINITY;
    for (int nodes = 1; nodes <= 4; nodes++) {
      double now = seconds(replay(EXACT, nodes + "x2", one, policy, 1));
      assertThat(now).as("%d nodes", nodes).isLessThanOrEqualTo(last + 1e-6);
      last = now;
    }
  }

  /** Pollux knows one GPU type for all of a job. */
  static Stream<String> policiesOfGpuTypes() {
    return policies().filter(policy -> !policy.equals("pollux"));
  }

  @ParameterizedTest
  @MethodSource("policiesOfGpuTypes")
  void runsOnNodesOfTheTypesThatAnApplicationKnows(String policy) {
    Map<String, Application> typed =
        Map.of("linear", PlainApplication.linear(1000).on(List.of("b", "c")));
    Replay replay =
        new EventSimulation(
                EXACT,
                ClusterShape.parse("a=2x4,b=1x4,c=1x4"),
                workload(
                    job("x", 0, "linear", 2), job("y", 5, "linear", 3), job("z", 9, "linear", 4)),
                typed,
                Policies.factory(policy, PolicyContext.online(1)),
                1,
                (seconds, done, all) -> {})
            .run();
    assertThat(replay.jobs()).hasSize(3);
    assertThat(replay.samples())
        .allSatisfy(sample -> assertThat(sample.gpusInUse()).isLessThanOrEqualTo(8));
  }

  @Test
  void thinsSamplesOfLongReplays() {
    Map<String, Application> years = Map.of("linear", PlainApplication.linear(3_000_000));
    Replay replay =
        new EventSimulation(
                EXACT,
                ClusterShape.parse("1x1"),
                workload(job("a", 0, "linear", 1)),
                years,
                Policies.factory("fifo", PolicyContext.online(1)),
                1,
                (seconds, done, all) -> {})
            .run();
    assertThat(replay.decisions().count()).isGreaterThan(50_000);
    assertThat(replay.samples()).hasSizeBetween(2000, 4000);
    assertThat(replay.samples().getLast().seconds()).isGreaterThan(2_900_000);
  }

  @Test
  void refusesJobsThatCanNeverRun() {
    assertThatThrownBy(() -> replay(EXACT, "1x4", workload(job("a", 0, "linear", 8)), "fifo", 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("job a needs 8 GPUs")
        .hasMessageContaining("more than 4");
    assertThatThrownBy(() -> replay(EXACT, "1x4", workload(job("a", 0, "tetris", 1)), "fifo", 1))
        .hasMessageContaining("unknown application 'tetris'");
    assertThatThrownBy(() ->
            replay(
                EXACT.withResizes(List.of(new Resize(Duration.ZERO, "v100", 2))),
                "1x4",
                workload(job("a", 0, "linear", 1)),
                "fifo",
                1))
        .hasMessageContaining("v100");
  }

  @Test
  void givesUpAfterItsLimit() {
    // The node leaves for good before the job has ended. The limit is many rounds away.
    Duration round = Duration.ofHours(1);
    EventSettings leaving =
        EXACT
            .withDecisions(round, round)
            .withResizes(List.of(new Resize(Duration.ofSeconds(50), "", 0)));
    assertThatThrownBy(() -> replay(leaving, "1x4", workload(job("a", 0, "linear", 4)), "fifo", 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("fifo left 1 of 1 jobs");
  }
}
