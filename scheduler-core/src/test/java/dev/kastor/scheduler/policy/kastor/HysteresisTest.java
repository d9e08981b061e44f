package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.plugin.Options;
import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A job that holds two of the four GPUs of its cluster may have them all, for a pause. */
final class HysteresisTest {
  private static final Options OPTIONS = TestOptions.USUAL;

  /** Nearly no time for anything but passes, and noise enough for any batch. */
  private static final GoodputModel LINEAR =
      new GoodputModel(
          new ThroughputParams(1e-6, 0.002, 1e-8, 1e-8, 1e-8, 1e-8, 1.5),
          new GradientStats(1, 1e6, 64));

  private static final List<Node> NODES = List.of(new Node("node-0", "a", 4));

  private static int given(JobState job) {
    return given(new KastorPolicy(OPTIONS), job);
  }

  private static int given(KastorPolicy policy, JobState job) {
    Snapshot snapshot = new Snapshot(Instant.EPOCH, NODES, List.of(job));
    return policy.plan(snapshot).allocation(job.id()).replicas();
  }

  private static TestJob pair() {
    return job("a").replicas(1, 4).on("node-0", 2).age(Duration.ofHours(1));
  }

  /**
   * A job never measured gains {@code 2^0.8} = 1.74 by doubling. A pause of {@code c} seconds costs
   * {@code c / sqrt(hold c)} of what follows, the same as that gain at {@code hold (1 - 2^-0.8)^2}.
   */
  @ParameterizedTest
  @ValueSource(doubles = {0, 0.5, 0.95, 1.05, 2})
  void growsWhereTheGainIsMoreThanItsShareOfThePause(double share) {
    double worthIt = OPTIONS.get(KastorPlugin.HOLD) * Math.pow(1 - Math.pow(2, -0.8), 2);
    Duration pause = Duration.ofMillis((long) (1000 * share * worthIt));
    JobState job = pair().rescaleCost(pause).sinceChange(Duration.ofHours(1)).build();
    assertThat(given(job)).isEqualTo(share < 1 ? 4 : 2);
  }

  /** To end sooner it must save more than the pause: work / rate(2) > pause + work / rate(4). */
  @ParameterizedTest
  @ValueSource(doubles = {0.5, 0.95, 1.05, 1.5})
  void growsWhereTheWorkThatIsLeftEndsSoonerForAll(double share) {
    TestJob job =
        pair()
            .model(TestJob.SCALABLE, 2)
            .rescaleCost(Duration.ofSeconds(30))
            .sinceChange(Duration.ofHours(1));
    Pools pools = Pools.of(NODES, TestOptions.USUAL);
    double two = Rates.rate(job.build(), pools, 0, 2, 1);
    double four = Rates.rate(job.build(), pools, 0, 4, 1);
    double worthIt = 30 / (1 / two - 1 / four);
    assertThat(worthIt / four + 30)
        .as("within the hold")
        .isLessThan(Math.sqrt(OPTIONS.get(KastorPlugin.HOLD) * 30));
    double steps = share * worthIt / job.build().spec().batchLimits().initialGlobalBatch();
    assertThat(given(job.steps(1000, 1000 + steps).build())).isEqualTo(share > 1 ? 4 : 2);
  }

  /** Against a short gang of a weightier queue that needs all slots. */
  @ParameterizedTest
  @CsvSource({"20, Ending, 2", "40, Stopped, 0", "0, Stopped, 0", "-20, Stopped, 0"})
  void leavesAloneWhoEndsSoonerThanItCouldPause(int secondsLeft, String reason, int replicas) {
    TestJob job =
        pair()
            .model(TestJob.SCALABLE, 2)
            .rescaleCost(Duration.ofSeconds(30))
            .sinceChange(Duration.ofHours(1));
    double two = Rates.rate(job.build(), Pools.of(NODES, TestOptions.USUAL), 0, 2, 1);
    double steps = secondsLeft * two / job.build().spec().batchLimits().initialGlobalBatch();
    JobState ends = job.steps(100_000, 100_000 + steps).build();
    JobState urgent =
        job("b")
            .elasticity(new Elasticity.Rigid(4))
            .model(TestJob.SCALABLE, 4)
            .steps(10, 1000)
            .queue("urgent")
            .build();
    Map<String, Queue> queues = Map.of("urgent", new Queue("urgent", 10));
    Plan plan =
        new KastorPolicy(OPTIONS)
            .plan(new Snapshot(Instant.EPOCH, NODES, List.of(ends, urgent), queues));
    assertThat(plan.reason(ends.id()).code()).isEqualTo(reason);
    assertThat(plan.allocation(ends.id()).replicas()).isEqualTo(replicas);
  }

  /**
   * Of two jobs that would be twice as fast with both slots the shorter should have them, unless
   * the other one's next start takes too long.
   */
  @ParameterizedTest
  @CsvSource({"0, 2, 0", "10, 2, 0", "1000, 1, 1"})
  void stopsWhoRunsOnlyWhereThatPaysForItsNextStart(int seconds, int shorter, int longer) {
    Duration restart = Duration.ofSeconds(seconds);
    JobState first = single("a", restart).steps(1000, 400_000).build();
    JobState second = single("b", restart).steps(1000, 200_000).build();
    List<Node> nodes = List.of(new Node("node-0", "a", 2));
    Plan plan =
        new KastorPolicy(OPTIONS).plan(new Snapshot(Instant.EPOCH, nodes, List.of(first, second)));
    assertThat(plan.allocation(second.id()).replicas()).isEqualTo(shorter);
    assertThat(plan.allocation(first.id()).replicas()).isEqualTo(longer);
  }

  private static TestJob single(String name, Duration restart) {
    return job(name)
        .replicas(1, 2)
        .model(LINEAR, 2)
        .on("node-0", 1)
        .sinceChange(Duration.ofHours(1))
        .rescaleCost(Duration.ZERO)
        .restartCost(restart);
  }

  @Test
  void leavesAloneWhoChangedLessThanTheMinimumRunAgo() {
    Duration least = Duration.ofSeconds(OPTIONS.get(KastorPlugin.MINIMUM_RUN).longValue());
    TestJob job = pair().rescaleCost(Duration.ofSeconds(1));
    assertThat(given(job.sinceChange(least.minusSeconds(1)).build())).isEqualTo(2);
    assertThat(given(job.sinceChange(least).build())).isEqualTo(4);
  }

  @Test
  void leavesAloneWhoWasSeenToTrainForLessThanTheMinimumRun() {
    Duration least = Duration.ofSeconds(OPTIONS.get(KastorPlugin.MINIMUM_RUN).longValue());
    Duration started = least.plusSeconds(5);
    TestJob starting = pair().rescaleCost(Duration.ofSeconds(1)).restarting();
    KastorPolicy policy = new KastorPolicy(OPTIONS);
    assertThat(given(policy, starting.sinceChange(Duration.ofSeconds(1)).build())).isEqualTo(2);
    TestJob trains = pair().rescaleCost(Duration.ofSeconds(1));
    assertThat(given(policy, trains.sinceChange(started).build())).isEqualTo(2);
    Duration since = started.plus(least);
    assertThat(given(policy, trains.sinceChange(since.minusSeconds(1)).build())).isEqualTo(2);
    assertThat(given(policy, trains.sinceChange(since.plusMillis(1)).build())).isEqualTo(4);
  }

  @Test
  void replicasThatDoNotComeHoldNothingForEver() {
    Duration least = Duration.ofSeconds(OPTIONS.get(KastorPlugin.MINIMUM_RUN).longValue());
    TestJob job = pair().rescaleCost(Duration.ofSeconds(1)).restarting();
    KastorPolicy policy = new KastorPolicy(OPTIONS);
    Duration longest = least.multipliedBy(3);
    assertThat(given(policy, job.sinceChange(longest.minusSeconds(1)).build())).isEqualTo(2);
    assertThat(given(policy, job.sinceChange(longest).build())).isEqualTo(4);
  }

  @Test
  void theStartOfAnEarlierAllocationDoesNotCount() {
    Duration least = Duration.ofSeconds(OPTIONS.get(KastorPlugin.MINIMUM_RUN).longValue());
    TestJob job = pair().rescaleCost(Duration.ofSeconds(1));
    KastorPolicy policy = new KastorPolicy(OPTIONS);
    Duration started = least.multipliedBy(2);
    assertThat(given(policy, job.sinceChange(started).restarting().build())).isEqualTo(2);
    TestJob changed = pair().rescaleCost(Duration.ofSeconds(1));
    assertThat(given(policy, changed.sinceChange(Duration.ofSeconds(1)).build())).isEqualTo(2);
    assertThat(given(policy, changed.sinceChange(least).build())).isEqualTo(4);
  }

  @Test
  void saysHowLongItIsLeftAlone() {
    Duration since = Duration.ofSeconds(OPTIONS.get(KastorPlugin.MINIMUM_RUN).longValue() - 4);
    JobState job = pair().sinceChange(since).build();
    Reason reason =
        new KastorPolicy(OPTIONS)
            .plan(new Snapshot(Instant.EPOCH, NODES, List.of(job)))
            .reason(job.id());
    assertThat(reason.code()).isEqualTo("JustChanged");
    assertThat(reason.numbers()).containsEntry("secondsUntilChange", 4.0);
  }

  @Test
  void staysOnTwoRacksWhereOneWouldNotBeFaster() {
    List<Node> nodes =
        List.of(
            new Node("n0", "a", 4, "x", false, 0),
            new Node("n1", "a", 4, "y", false, 0),
            new Node("n2", "a", 4, "z", false, 0),
            new Node("n3", "a", 4, "z", false, 0));
    JobState job =
        job("a")
            .elasticity(new Elasticity.Rigid(8))
            .on(new Allocation(new LinkedHashMap<>(Map.of("n0", 4, "n1", 4))))
            .sinceChange(Duration.ofHours(1))
            .rescaleCost(Duration.ZERO)
            .build();
    Plan plan = new KastorPolicy(OPTIONS).plan(new Snapshot(Instant.EPOCH, nodes, List.of(job)));
    assertThat(plan.allocation(job.id())).isEqualTo(job.allocation());
  }
}
