package dev.kastor.operator.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.mapping.JobSpecs;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.estimate.GoodputEstimator;
import dev.kastor.scheduler.estimate.Learner;
import dev.kastor.scheduler.speed.NodeSpeeds;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JobTelemetryTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final TrainingJob job = TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive);
  private final JobTelemetry telemetry =
      new JobTelemetry(
          job,
          new Learner(JobSpecs.of(job), new GoodputEstimator(JobSpecs.of(job)), Optional.empty()),
          TestJobs.steps(job, new NodeSpeeds()),
          START);

  JobTelemetryTest() {
    for (long generation = 1; generation <= 4; generation++) {
      telemetry.published(
          generation,
          new SeenBounds.Published(
              1, 2, "", Optional.of(START.minusSeconds(10)), Optional.of(START.minusSeconds(20))),
          List.of("n1"));
    }
  }

  @Test
  void measuresGoodputAndSaysWhenTheWorkIsDone() {
    telemetry.accept(report("a", 1, 100, 100, List.of(), null), START);
    telemetry.accept(report("a", 2, 200, 150, List.of(), null), START.plusSeconds(10));
    TrainingStatus summary = summary(10);
    assertThat(summary.goodput()).as("50 steps of 32 in 10 s").isEqualTo(160);
    assertThat(summary.throughput()).as("100 steps of 64 in 10 s").isEqualTo(640);
    assertThat(summary.efficiency()).isEqualTo(0.25);
    assertThat(summary.eta())
        .as("850 steps of 32 at the 320 a second that steps of 0.1 s amount to")
        .isEqualTo("2026-01-01T00:01:35Z");
    assertThat(summary.percent()).isEqualTo(15);
    assertThat(summary.globalBatch()).isEqualTo(64);
    assertThat(telemetry.model(START)).isPresent();
    assertThat(summary.predictedGoodput()).containsKeys("1", "4");
  }

  @Test
  void aForecastSaysWhenTheWorkIsDoneUntilItIsOld() {
    telemetry.accept(report("a", 1, 100, 100, List.of(), null), START);
    telemetry.accept(report("a", 2, 200, 150, List.of(), null), START.plusSeconds(10));
    telemetry.foreseen(START.plusSeconds(70), START.plusSeconds(30));
    assertThat(summary(10).eta()).isEqualTo("2026-01-01T00:01:10Z");
    assertThat(summary(30).eta()).as("as it trains").isEqualTo("2026-01-01T00:01:55Z");
    telemetry.foreseen(START.plusSeconds(10), START.plusSeconds(30));
    assertThat(summary(10).eta()).as("it should have ended").isEqualTo("2026-01-01T00:01:35Z");
    telemetry.foreseen(null, START.plusSeconds(30));
    assertThat(summary(10).eta()).isEqualTo("2026-01-01T00:01:35Z");
  }

  @Test
  void aForecastOfAJobWhoseWorkIsNotKnownIsAGuess() {
    Progress endless = new Progress(100, 100, 0, 6400, 0);
    telemetry.accept(report("a", 1, endless, List.of(), null), START);
    telemetry.foreseen(START.plusSeconds(3600), START.plusSeconds(30));
    assertThat(summary(10).eta()).isNull();
  }

  @Test
  void aRepeatedReportChangesNothing() {
    assertThat(telemetry.accept(report("a", 1, 100, 100, List.of(), null), START)).isTrue();
    assertThat(telemetry.accept(report("a", 1, 500, 500, List.of(), null), START)).isFalse();
    assertThat(summary(0).step()).isEqualTo(100);
  }

  @Test
  void countsEachLiveChangeOnce() {
    var grow = new Switch(2, 1, 2, Switch.Cause.RESCALE, 0.030);
    var shrink = new Switch(3, 2, 1, Switch.Cause.RESCALE, 0.010);
    var death = new Switch(4, 2, 1, Switch.Cause.FAILURE, 1.0);
    telemetry.accept(report("a", 1, 1, 1, List.of(grow), null), START);
    telemetry.accept(report("b", 1, 2, 2, List.of(grow, shrink, death), null), START);
    TrainingStatus summary = summary(0);
    assertThat(summary.rescales()).isEqualTo(2);
    assertThat(summary.grows()).isEqualTo(1);
    assertThat(summary.shrinks()).isEqualTo(1);
    assertThat(summary.medianPauseMillis()).isEqualTo(10);
    assertThat(summary.maxPauseMillis()).isEqualTo(30);
  }

  @Test
  void goingBackToACheckpointIsNoProgress() {
    telemetry.accept(report("a", 1, 100, 100, List.of(), null), START);
    telemetry.accept(report("b", 1, 90, 90, List.of(), null), START.plusSeconds(5));
    assertThat(telemetry.lastProgress()).isEqualTo(START);
    telemetry.accept(report("b", 2, 101, 101, List.of(), null), START.plusSeconds(6));
    assertThat(telemetry.lastProgress()).isEqualTo(START.plusSeconds(6));
  }

  @Test
  void theEndIsKnownFromLastWordsAlone() {
    telemetry.note(
        new Outcome(
            Outcome.Kind.COMPLETED, new Progress(9, 10, 10, 300, 1), "accuracy", 0.9, 0, ""),
        START);
    TrainingStatus summary = summary(0);
    assertThat(summary.percent()).isEqualTo(100);
    assertThat(summary.finalMetric()).isEqualTo(0.9);
    assertThat(summary.step()).isEqualTo(9);
  }

  @Test
  void whatFitsIsInTheSummaryAndKnownToTheNextOperator() {
    telemetry.accept(report("a", 1, 100, 100, List.of(), null), START);
    assertThat(summary(0).mostExamples()).isNull();
    assertThat(telemetry.measured(START).mostExamples()).isEmpty();
    assertThat(telemetry.outOfMemory("", 64)).as("32 were trained with").hasValue(48);
    assertThat(telemetry.measured(START).mostExamples()).containsExactly(Map.entry("", 48));
    telemetry.fits("", 40);
    assertThat(summary(0).mostExamples()).containsExactly(Map.entry("", 40));
    job.setStatus(
        Serialization.unmarshal(
            Serialization.asJson(Map.of("training", summary(0))), TrainingJobStatus.class));
    JobTelemetry next =
        new JobTelemetry(
            job,
            new Learner(JobSpecs.of(job), new GoodputEstimator(JobSpecs.of(job)), Optional.empty()),
            TestJobs.steps(job, new NodeSpeeds()),
            START);
    assertThat(next.measured(START).mostExamples()).containsExactly(Map.entry("", 40));
  }

  @Test
  void theLastReportMayTellOfABatchThatDidNotFit() {
    Outcome outcome = new Outcome(Outcome.Kind.FAILED, null, null, null, 0, "no memory", 40);
    telemetry.accept(report("a", 1, 100, 100, List.of(), outcome), START);
    assertThat(telemetry.mostExamples()).containsExactly(Map.entry("", 36));
    assertThat(telemetry.completed()).isEmpty();
  }

  private TrainingStatus summary(int second) {
    return telemetry.summary(START.plusSeconds(second)).orElseThrow();
  }

  private static TelemetryReport report(
      String pod,
      long sequence,
      long step,
      double progress,
      List<Switch> switches,
      @Nullable Outcome outcome) {
    Progress made = new Progress(step, progress, 1000, step * 64, 0);
    return report(pod, sequence, made, switches, outcome);
  }

  private static TelemetryReport report(
      String pod,
      long sequence,
      Progress progress,
      List<Switch> switches,
      @Nullable Outcome outcome) {
    return new TelemetryReport(
        "team",
        "bert",
        pod,
        1,
        sequence,
        2,
        new BatchPlan(32, 0),
        List.of(new StepProfile(1, 2, 32, 10, 0.1, 0.01)),
        new GradientStats(1, 8, 32),
        progress,
        1.0,
        0.1,
        null,
        switches,
        outcome);
  }
}
