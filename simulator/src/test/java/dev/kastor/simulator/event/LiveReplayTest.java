package dev.kastor.simulator.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.replay.ReplayListener;
import dev.kastor.simulator.whatif.Fate;
import dev.kastor.simulator.whatif.WhatIf;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A replay that goes on from what another one told its policy, in the middle. */
final class LiveReplayTest {
  private static final Duration ROUND = Duration.ofSeconds(30);
  private static final Duration DELAY = Duration.ofMillis(100);
  private static final EventSettings SETTINGS =
      EventSettings.defaults()
          .withTimingNoise(0)
          .withReports(Duration.ofSeconds(2))
          .withDecisions(DELAY, ROUND)
          .withLiveRescale(new LiveRescale(Duration.ofSeconds(2), Duration.ofSeconds(30)));
  private static final Map<String, Application> APPLICATIONS =
      Map.of(
          "linear", PlainApplication.linear(4000), "elastic", steady(PlainApplication.elastic(1)));

  /** The same with noise that stays, as a replay of a job of no known family has it. */
  private static PlainApplication steady(PlainApplication growing) {
    return new PlainApplication(
        growing.name(),
        growing.params(),
        growing.limits(),
        1,
        240_000,
        growing.noise(),
        growing.restartSeconds(),
        growing.gpuTypes());
  }

  /** Keeps the first snapshot of all jobs at or after a time. */
  private static final class Middle implements ReplayListener {
    private final Instant from;
    private final int jobs;
    private @Nullable Snapshot kept;

    Middle(Duration from, int jobs) {
      this.from = Instant.EPOCH.plus(from);
      this.jobs = jobs;
    }

    @Override
    public void at(double seconds, int done, int all) {}

    @Override
    public void observed(Snapshot snapshot) {
      if (kept == null && !snapshot.now().isBefore(from) && snapshot.jobs().size() == jobs) {
        kept = snapshot;
      }
    }
  }

  /** Eight jobs within two minutes, more than eight GPUs can serve at once. */
  private static Workload eight() {
    List<Workload.Job> jobs = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      jobs.add(
          new Workload.Job(
              "job-" + i,
              15 * i,
              i % 2 == 0 ? "linear" : "elastic",
              1,
              4 + i % 3,
              1 + i % 3,
              0,
              Workload.Category.ADAPTIVE));
    }
    return new Workload("eight", jobs);
  }

  private static PolicyFactory policy(String name, long seed) {
    return PolicyFactory.of(Policies.BUILT_IN.choose(name), PolicyContext.online(seed));
  }

  /** The job as one whose speed is known, of a policy that asks for no models. */
  private static JobState modelled(JobState job) {
    PlainApplication truth =
        (PlainApplication) Objects.requireNonNull(APPLICATIONS.get(job.spec().family()));
    return new JobState(
        job.spec(),
        job.allocation(),
        Optional.of(new GoodputModel(truth.params(), truth.gradient(64, 0))),
        job.spec().elasticity().max(),
        job.progress(),
        job.age(),
        job.attainedService(),
        job.restarts(),
        job.rescaleCost(),
        job.restartCost(),
        job.startCost(),
        job.sinceChange(),
        job.unsaved(),
        job.pinned(),
        job.restarting(),
        job.outlook(),
        Optional.empty());
  }

  /** Speeds were learned from reports before; what is learned later may move an end a little. */
  @Tag("slow")
  @ParameterizedTest
  @ValueSource(strings = {"kastor", "pollux"})
  void goesOnAsTheReplayDid(String name) {
    Middle middle = new Middle(Duration.ofMinutes(15), 8);
    Replay whole =
        new EventSimulation(
                SETTINGS,
                ClusterShape.parse("2x4"),
                eight(),
                APPLICATIONS,
                policy(name, 1),
                1,
                middle)
            .run();
    Snapshot seen = Objects.requireNonNull(middle.kept);
    LiveCluster live =
        new LiveCluster(
            seen.now(),
            name,
            1,
            ROUND,
            DELAY,
            seen.nodes(),
            seen.queues(),
            seen.jobs().stream().map(job -> new LiveJob(job, false)).toList(),
            0);
    WhatIf answer =
        WhatIf.of(live, List.of(), LiveReplayTest::policy, Duration.ofHours(1), () -> false);
    Map<String, Double> ends = new HashMap<>();
    whole.jobs().forEach(job -> ends.put(job.name(), job.finishSeconds()));
    double now = seconds(seen.now());
    List<Double> errors = new ArrayList<>();
    for (Fate fate : answer.now().fates().sequencedValues()) {
      double truth = Objects.requireNonNull(ends.get(fate.job().name())) - now;
      double told = seconds(fate.end().orElseThrow()) - now;
      errors.add(Math.abs(told - truth) / truth);
    }
    errors.sort(Comparator.naturalOrder());
    assertThat(errors.get(errors.size() / 2)).as("%s", errors).isLessThan(0.1);
    assertThat(
            answer.now().fates().sequencedValues().stream()
                .filter(fate -> fate.runs())
                .map(fate -> fate.job().name()))
        .containsExactlyInAnyOrderElementsOf(
            seen.jobs().stream()
                .filter(job -> !job.allocation().equals(Allocation.NONE))
                .map(job -> job.id().name())
                .toList());
  }

  /** Where nothing has to be learned, nothing may differ. */
  @Tag("slow")
  @Test
  void sameOrderAndEndsWhereSpeedsAreKnown() {
    String name = "fifo";
    Middle middle = new Middle(Duration.ofMinutes(4), 8);
    Replay whole =
        new EventSimulation(
                SETTINGS,
                ClusterShape.parse("2x4"),
                eight(),
                APPLICATIONS,
                policy(name, 1),
                1,
                middle)
            .run();
    Snapshot seen = Objects.requireNonNull(middle.kept);
    Map<String, Replay.Completed> truth = new HashMap<>();
    whole.jobs().forEach(job -> truth.put(job.name(), job));
    LiveCluster live =
        new LiveCluster(
            seen.now(),
            name,
            1,
            ROUND,
            DELAY,
            seen.nodes(),
            seen.queues(),
            seen.jobs().stream().map(job -> new LiveJob(modelled(job), false)).toList(),
            0);
    WhatIf answer =
        WhatIf.of(live, List.of(), LiveReplayTest::policy, Duration.ofHours(1), () -> false);
    for (Fate fate : answer.now().fates().sequencedValues()) {
      Replay.Completed was = Objects.requireNonNull(truth.get(fate.job().name()));
      assertThat(seconds(fate.end().orElseThrow()))
          .as("end of %s", fate.job())
          .isCloseTo(
              was.finishSeconds(), within(0.01 * (was.finishSeconds() - seconds(seen.now()))));
      fate.start()
          .ifPresent(start ->
              assertThat(seconds(start))
                  .as("start of %s", fate.job())
                  .isCloseTo(
                      was.startSeconds(),
                      within(0.01 * (was.startSeconds() - seconds(seen.now())))));
    }
    assertThat(
            order(
                answer.now().fates().sequencedValues().stream()
                    .map(fate -> Map.entry(fate.job().name(), seconds(fate.end().orElseThrow())))))
        .isEqualTo(
            order(whole.jobs().stream().map(job -> Map.entry(job.name(), job.finishSeconds()))));
  }

  /** A start that is minutes away is told as exactly where the last end is a day away. */
  @Tag("slow")
  @Test
  void roundsAreAsOnTheClusterAtFirstAndFurtherApartLater() {
    List<Double> usual = new ArrayList<>();
    List<Double> growing = new ArrayList<>();
    Replay often = rounds(SETTINGS, usual);
    Replay seldom = rounds(SETTINGS.withGrowth(0.02), growing);
    double round = ROUND.toSeconds();
    assertThat(growing).hasSizeLessThan(usual.size() / 2);
    int asUsual = 0;
    for (int i = 1; i < growing.size(); i++) {
      double gap = growing.get(i) - growing.get(i - 1);
      assertThat(gap).isLessThan(Math.max(round, 0.02 * growing.get(i - 1)) + 1e-3);
      asUsual += gap < round + 1e-3 ? 1 : 0;
    }
    assertThat(asUsual).isGreaterThan(49);
    assertThat(meanFinish(seldom)).isCloseTo(meanFinish(often), withinPercentage(5));
  }

  private static double meanFinish(Replay replay) {
    return replay.jobs().stream()
        .mapToDouble(Replay.Completed::finishSeconds)
        .average()
        .orElseThrow();
  }

  private static Replay rounds(EventSettings settings, List<Double> times) {
    ReplayListener listener =
        new ReplayListener() {
          @Override
          public void at(double seconds, int done, int all) {}

          @Override
          public void observed(Snapshot snapshot) {
            times.add(seconds(snapshot.now()));
          }
        };
    return new EventSimulation(
            settings,
            ClusterShape.parse("2x4"),
            eight(),
            APPLICATIONS,
            policy("kastor", 1),
            1,
            listener)
        .run();
  }

  private static List<String> order(Stream<Map.Entry<String, Double>> ends) {
    return ends.sorted(Map.Entry.comparingByValue()).map(Map.Entry::getKey).toList();
  }

  private static double seconds(Instant at) {
    return Duration.between(Instant.EPOCH, at).toNanos() * 1e-9;
  }
}
