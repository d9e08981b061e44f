package dev.kastor.simulator;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.BatchLimits;
import dev.kastor.scheduler.PlacementShape;
import dev.kastor.scheduler.Round;
import dev.kastor.scheduler.policy.Policies;
import dev.kastor.scheduler.policy.PolicyOptions;
import dev.kastor.traces.JobProfile;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class SimulationTest {
  private static final Path TRACES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces");

  static Stream<String> policies() {
    return Policies.names().stream();
  }

  private static Map<String, JobProfile> profiles() throws TraceException {
    return JobProfile.read(TRACES.resolve("profiles/kastor.csv"));
  }

  private static Workload workload(String name) throws TraceException {
    return Workload.read(TRACES.resolve("workloads/" + name + ".csv"), profiles().keySet());
  }

  private static Replay replay(
      Workload workload,
      Map<String, JobProfile> profiles,
      Settings settings,
      String policy,
      long seed) {
    return new Simulation(
            workload,
            profiles,
            settings,
            Policies.create(policy, PolicyOptions.defaults(seed)),
            seed,
            round -> {})
        .run();
  }

  private static Settings noiseless() {
    Settings s = Settings.defaults();
    return new Settings(
        s.nodes(), s.slotsPerNode(), s.round(), s.startCost(), s.rescaleCost(), 0, s.limit());
  }

  @ParameterizedTest
  @MethodSource("policies")
  void finishesEveryJobAfterItsSubmission(String policy) throws TraceException {
    Workload workload = workload("burst-8");
    Replay replay = replay(workload, profiles(), Settings.defaults(), policy, 1);
    assertThat(replay.jobs()).hasSameSizeAs(workload.jobs());
    assertThat(replay.jobs())
        .allSatisfy(job -> {
          assertThat(job.startSeconds()).isGreaterThanOrEqualTo(job.submitSeconds());
          assertThat(job.finishSeconds()).isGreaterThan(job.startSeconds());
          assertThat(job.slotSeconds()).isPositive();
        });
  }

  @ParameterizedTest
  @MethodSource("policies")
  void isDeterministicInItsSeed(String policy) throws TraceException {
    Workload workload = workload("burst-8");
    Replay first = replay(workload, profiles(), Settings.defaults(), policy, 5);
    Replay second = replay(workload, profiles(), Settings.defaults(), policy, 5);
    assertThat(second).isEqualTo(first);
  }

  @ParameterizedTest
  @MethodSource("policies")
  void neverRefusesAPlanNorHoldsMoreSlotsThanExist(String policy) throws TraceException {
    Settings settings = Settings.defaults();
    List<Round> rounds = new ArrayList<>();
    Replay replay =
        new Simulation(
                workload("burst-8"),
                profiles(),
                settings,
                Policies.create(policy, PolicyOptions.defaults(2)),
                2,
                rounds::add)
            .run();
    assertThat(rounds).isNotEmpty().allMatch(round -> round.violations().isEmpty());
    assertThat(rounds)
        .allSatisfy(round ->
            assertThat(
                    round.snapshot().jobs().stream()
                        .mapToInt(job -> job.allocation().replicas())
                        .sum())
                .isLessThanOrEqualTo(round.snapshot().totalSlots()));
    double slots = settings.nodes() * settings.slotsPerNode();
    assertThat(replay.gpuHours() * 3600).isLessThanOrEqualTo(slots * replay.makespanSeconds());
  }

  @Test
  void aStaticJobTakesItsStartPlusItsWork() throws TraceException {
    // One replica, one batch for the whole run: the noise is so low that no larger batch pays.
    JobProfile digits = requireNonNull(profiles().get("digits"));
    JobProfile quiet =
        new JobProfile(
            "quiet", digits.params(), new BatchLimits(64, 64, 16, 512, true), 1000, digits.noise());
    Workload workload =
        new Workload(
            "one",
            List.of(new Workload.Job("a", 100, "quiet", 1, 1, 1, 0, Workload.Category.ADAPTIVE)));
    Replay replay = replay(workload, Map.of("quiet", quiet), noiseless(), "fifo", 1);
    double step = digits.params().stepSeconds(new PlacementShape(1, 1, ""), new BatchPlan(64, 0));
    assertThat(replay.jobs().getFirst().completionSeconds())
        .isCloseTo(10 + 1000 * step, within(1e-6));
    assertThat(replay.averageWaitSeconds()).isZero();
    assertThat(replay.restarts()).isZero();
  }

  @Test
  void sizesThatAdaptBeatStaticOnes() throws TraceException {
    Workload workload = workload("mixed-40");
    Replay fifo = replay(workload, profiles(), Settings.defaults(), "fifo", 1);
    Replay pollux = replay(workload, profiles(), Settings.defaults(), "pollux", 1);
    assertThat(pollux.averageSeconds()).isLessThan(fifo.averageSeconds());
  }

  @Test
  void dearRescalingIsUsedLess() throws TraceException {
    Workload workload = workload("burst-8");
    Settings dear = Settings.defaults().withRescaleCost(Duration.ofMinutes(5));
    assertThat(replay(workload, profiles(), dear, "pollux", 1).restarts())
        .isLessThan(replay(workload, profiles(), Settings.defaults(), "pollux", 1).restarts());
  }

  @Test
  void givesUpOnJobsThatCanNeverRun() throws TraceException {
    Workload workload =
        new Workload(
            "gang",
            List.of(new Workload.Job("a", 0, "digits", 8, 8, 8, 0, Workload.Category.ADAPTIVE)));
    Settings small = Settings.defaults().withCluster(1, 4);
    assertThatThrownBy(() -> replay(workload, profiles(), small, "fifo", 1))
        .hasMessageContaining("fifo")
        .hasMessageContaining("has not finished");
  }
}
