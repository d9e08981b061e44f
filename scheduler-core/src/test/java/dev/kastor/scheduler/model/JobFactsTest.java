package dev.kastor.scheduler.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.goodput.Outlook;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JobFactsTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final AssumedPauses ASSUMED =
      new AssumedPauses(Duration.ofSeconds(2), Duration.ofSeconds(15));
  private static final AllocationHistory RUNS =
      AllocationHistory.NONE.next(Allocation.on("n1", 2), at(10));

  @Test
  void pausesAreAssumedUntilOneWasMeasured() {
    JobState before = state(RUNS, measured(null, null, null), true);
    assertThat(before.rescaleCost()).isEqualTo(Duration.ofSeconds(2));
    assertThat(before.restartCost()).isEqualTo(Duration.ofSeconds(15));
    JobState live = state(RUNS, measured(40L, null, null), true);
    assertThat(live.rescaleCost()).isEqualTo(Duration.ofSeconds(40));
    assertThat(live.restartCost())
        .as("never below a live change")
        .isEqualTo(Duration.ofSeconds(40));
    JobState both = state(RUNS, measured(40L, 7L, null), true);
    assertThat(both.restartCost()).as("measured").isEqualTo(Duration.ofSeconds(7));
  }

  @Test
  void replicasStartForAsLongAsARestartTakesUnlessTheHostKnowsBetter() {
    assertThat(state(RUNS, measured(null, 7L, null), true).startCost())
        .isEqualTo(Duration.ofSeconds(7));
    JobFacts facts =
        new JobFacts(
            TestJob.job("bert").build().spec(),
            RUNS,
            true,
            measured(null, 7L, null),
            false,
            Optional.empty());
    AssumedPauses known =
        new AssumedPauses(
            Duration.ofSeconds(2), Duration.ofSeconds(15), Optional.of(Duration.ofSeconds(3)));
    JobState state = facts.state(known, at(60));
    assertThat(state.startCost()).isEqualTo(Duration.ofSeconds(3));
    assertThat(state.withSpec(state.spec()).startCost()).isEqualTo(Duration.ofSeconds(3));
    assertThat(state.pinnedAsItIs().startCost()).isEqualTo(Duration.ofSeconds(3));
    assertThat(state.stopped().startCost()).isEqualTo(Duration.ofSeconds(3));
  }

  @Test
  void theNextChangeOfAWaitingJobIsAStart() {
    AllocationHistory waits = RUNS.next(Allocation.NONE, at(20));
    assertThat(state(waits, measured(1L, 30L, null), false).rescaleCost())
        .isEqualTo(Duration.ofSeconds(30));
  }

  @Test
  void anyChangeOfAJobThatRestartsForItIsAStart() {
    JobSpec spec =
        TestJob.job("bert")
            .elasticity(new Elasticity.Restarting(1, 8, new AllowedReplicas.Any()))
            .build()
            .spec();
    JobFacts facts =
        new JobFacts(spec, RUNS, true, measured(1L, 30L, null), false, Optional.empty());
    JobState state = facts.state(ASSUMED, at(60));
    assertThat(state.rescaleCost()).isEqualTo(Duration.ofSeconds(30));
    assertThat(state.restartCost()).isEqualTo(Duration.ofSeconds(30));
  }

  @Test
  void aChangeIsUnderWayUntilTheJobTrainsWithIt() {
    assertThat(state(RUNS, Measured.NOTHING, false).restarting()).isTrue();
    assertThat(state(RUNS, Measured.NOTHING, true).restarting()).isFalse();
    assertThat(state(AllocationHistory.NONE, Measured.NOTHING, false).restarting()).isFalse();
  }

  @Test
  void onlyWhatWasTrainedSinceItHasSlotsIsUnsaved() {
    assertThat(state(RUNS, measured(null, null, null), true).unsaved())
        .isEqualTo(Duration.ofSeconds(50));
    assertThat(state(RUNS, measured(null, null, 40L), true).unsaved())
        .isEqualTo(Duration.ofSeconds(20));
    AllocationHistory again =
        RUNS.next(Allocation.NONE, at(30)).next(Allocation.on("n1", 1), at(55));
    assertThat(state(again, measured(null, null, 30L), true).unsaved())
        .as("the time in which it waited lost nothing")
        .isEqualTo(Duration.ofSeconds(5));
  }

  private static JobState state(AllocationHistory history, Measured measured, boolean training) {
    JobSpec spec = TestJob.job("bert").build().spec();
    return new JobFacts(spec, history, training, measured, false, Optional.empty())
        .state(ASSUMED, at(60));
  }

  private static Measured measured(
      @Nullable Long rescale, @Nullable Long restart, @Nullable Long saved) {
    return new Measured(
        Optional.empty(),
        0,
        Optional.empty(),
        Optional.ofNullable(rescale).map(Duration::ofSeconds),
        Optional.ofNullable(restart).map(Duration::ofSeconds),
        Optional.ofNullable(saved).map(JobFactsTest::at),
        Outlook.NONE);
  }

  private static Instant at(long seconds) {
    return START.plusSeconds(seconds);
  }
}
