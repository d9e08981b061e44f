package dev.kastor.operator.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.mapping.JobSpecs;
import dev.kastor.protocol.StepCount;
import dev.kastor.scheduler.estimate.GoodputEstimator;
import dev.kastor.scheduler.estimate.Learner;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.Learning;
import dev.kastor.scheduler.speed.NodeSpeeds;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a gang's script counts, as it is known to policies and people. */
class CountedStepsTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final TrainingJob job = TestJobs.gang("bert", 1, 8);
  private final JobSpec spec = JobSpecs.of(job);
  private final JobTelemetry telemetry =
      new JobTelemetry(
          job,
          new Learner(
              spec,
              new GoodputEstimator(spec, GoodputEstimator.Merging.NEWEST, Learning.FULL),
              Optional.empty()),
          TestJobs.steps(job, new NodeSpeeds()),
          START);

  private int at;
  private long steps;

  private static TelemetryStore.Start start(long generation, int replicas, int allocated) {
    return new TelemetryStore.Start(
        generation,
        List.of("n1"),
        replicas,
        "a100",
        Optional.of(second(allocated + 1)),
        Optional.of(second(allocated)));
  }

  private static Instant second(int seconds) {
    return START.plusSeconds(seconds);
  }

  private void count(TelemetryStore.Start start, long counted, long batch) {
    telemetry.count(start, "bert-0", new StepCount(counted, batch), second(at));
  }

  /** Counts as many steps a second for a while. */
  private void trains(TelemetryStore.Start start, int perSecond, long batch) {
    for (int i = 0; i < 6; i++) {
      count(start, steps, batch);
      at += 10;
      steps += 10L * perSecond;
    }
    count(start, steps, batch);
  }

  private double goodput(int replicas) {
    GoodputModel model = telemetry.model(second(at)).orElseThrow();
    return BatchChoice.goodput(spec, model, new PlacementShape(1, replicas, "a100"));
  }

  @Test
  void nothingIsKnownBeforeStepsWereCountedTwice() {
    count(start(1, 2, 0), 0, 256);
    assertThat(telemetry.model(START)).isEmpty();
    at = 10;
    count(start(1, 2, 0), 20, 256);
    assertThat(goodput(2)).isCloseTo(512, within(0.5));
  }

  @Test
  void speedsAtSomeSizesMakeACurve() {
    trains(start(1, 2, 0), 2, 256);
    trains(start(3, 8, 100), 5, 256);
    assertThat(goodput(2)).isCloseTo(2 * 256, within(1.0));
    assertThat(goodput(8)).isCloseTo(5 * 256, within(1.0));
    assertThat(goodput(4)).isBetween(goodput(2), goodput(8));
    assertThat(goodput(1)).isLessThan(goodput(2));
    assertThat(telemetry.measured(second(at + 10)).maxProfiledReplicas()).isEqualTo(8);
  }

  /** A script whose batch grows with its pods is as fast as its examples are, not its steps. */
  @Test
  void examplesCountWhateverTheBatch() {
    trains(start(1, 2, 0), 2, 128);
    trains(start(3, 4, 100), 2, 256);
    assertThat(goodput(2)).isCloseTo(256, within(0.5));
    assertThat(goodput(4)).isCloseTo(512, within(1.0));
  }

  @Test
  void theFirstCountOfAStartEndsItsPause() {
    at = 40;
    count(start(1, 2, 10), 0, 256);
    assertThat(telemetry.measured(second(40)).restartPause())
        .as("slots were given at second 10")
        .hasValue(Duration.ofSeconds(30));
    at = 60;
    count(start(1, 2, 10), 40, 256);
    at = 150;
    count(start(3, 4, 70), 40, 256);
    assertThat(telemetry.summary(second(150)).orElseThrow().medianStartMillis())
        .as("of 30 s and of 80 s")
        .isEqualTo(30_000);
  }

  /** It may take as long as its backoff, which says nothing of changes that a policy makes. */
  @Test
  void aStartAfterAFailureIsNoChangeOfThePolicys() {
    at = 40;
    count(start(1, 2, 10), 0, 256);
    at = 60;
    count(start(1, 2, 10), 40, 256);
    at = 400;
    count(start(3, 2, 10), 30, 256);
    assertThat(telemetry.summary(second(400)).orElseThrow().medianStartMillis()).isEqualTo(30_000);
  }

  @Test
  void progressIsWhatWasCountedAndGoesBackToACheckpoint() {
    count(start(1, 2, 0), 1000, 256);
    at = 10;
    count(start(1, 2, 0), 1100, 256);
    TrainingStatus before = telemetry.summary(second(10)).orElseThrow();
    assertThat(before.step()).isEqualTo(1100);
    assertThat(before.examples()).as("counted since it is known").isEqualTo(100 * 256);
    assertThat(before.globalBatch()).isEqualTo(256);
    assertThat(before.throughput()).isEqualTo(10 * 256);
    assertThat(before.goodput()).isCloseTo(10 * 256, within(1e-6));
    assertThat(before.efficiency()).as("nobody knows it").isNull();
    at = 20;
    count(start(3, 2, 12), 1050, 256);
    TrainingStatus after = telemetry.summary(second(20)).orElseThrow();
    assertThat(after.step()).isEqualTo(1050);
    assertThat(after.examples()).isEqualTo(50 * 256);
  }

  @Test
  void countsInOneSecondAreTakenTogether() {
    count(start(1, 2, 0), 0, 256);
    count(start(1, 2, 0), 1, 256);
    assertThat(telemetry.model(START)).isEmpty();
    at = 10;
    count(start(1, 2, 0), 20, 256);
    assertThat(goodput(2)).isCloseTo(512, within(0.5));
  }

  @Test
  void aSpeedThatNoJobHasIsRefused() {
    count(start(1, 2, 0), 0, 256);
    at = 10;
    assertThatIllegalArgumentException()
        .isThrownBy(() -> count(start(1, 2, 0), 1L << 50, 256))
        .withMessageStartingWith("steps grew by 1125899906842624 of 256 examples (batch)");
    count(start(1, 2, 0), 20, 256);
    assertThat(goodput(2)).as("the rest counts").isCloseTo(512, within(0.5));
  }

  @Test
  void anOperatorThatFoundTheStartMeasuresNoPause() {
    at = 40;
    telemetry.count(
        new TelemetryStore.Start(
            1, List.of("n1"), 2, "a100", Optional.empty(), Optional.of(second(10))),
        "bert-0",
        new StepCount(0, 256),
        second(40));
    assertThat(telemetry.measured(second(40)).restartPause()).isEmpty();
  }
}
