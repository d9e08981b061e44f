package dev.kastor.operator.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.CheckpointInfo;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.goodput.BatchLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class SeenBoundsTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final BatchLimits LIMITS = new BatchLimits(32, 1024, 1, 256, true);

  private final SeenBounds bounds = new SeenBounds(LIMITS, START, 0, 0, Instant.EPOCH);

  @BeforeEach
  void publish() {
    bounds.published(1, published("A100", Optional.of(START)));
  }

  @Test
  void aPauseIsNoLongerThanTheOperatorSaw() {
    assertThat(pause(1, 1e9, 40)).containsExactly(40.0);
    assertThat(pause(1, 2, 40)).containsExactly(2.0);
    assertThat(pause(1, 1e9, 86_400)).containsExactly(600.0);
  }

  @Test
  void aPauseForAGenerationThatWasNotPublishedIsNone() {
    bounds.published(2, published("A100", Optional.empty()));
    assertThat(pause(2, 60, 40)).isEmpty();
    assertThat(pause(3, 60, 40)).isEmpty();
  }

  @Test
  void nobodyWasMeasuredWithMoreThanHeHadNorForLongerThanHeLived() {
    assertThat(cut(step(2, 0.1), 100, 0, 40).profiles()).hasSize(1);
    assertThat(cut(step(3, 0.1), 100, 0, 40).profiles()).isEmpty();
    assertThat(cut(step(2, 41), 100, 0, 40).profiles()).isEmpty();
  }

  @Test
  void noiseIsThatOfBatchesThatTheJobMayUse() {
    GradientStats noise = Objects.requireNonNull(cut(step(2, 0.1), 1e12, 0, 40).gradient());
    assertThat(noise.noiseScale()).isEqualTo(SeenBounds.MOST_NOISE * 1024);
    assertThat(noise.initialBatch()).isEqualTo(32);
  }

  @Test
  void progressIsNoFasterThanItsStepsAllow() {
    // 2 replicas of 32 examples in 0.1 s: 20 steps of the initial batch a second.
    assertThat(done(200, 10)).isEqualTo(200);
    assertThat(done(900, 20)).isEqualTo(200 + 1.25 * 20 * 15);
    assertThat(done(150, 30)).as("back at a checkpoint").isEqualTo(150);
    assertThat(done(5000, 86_400)).as("the declared work").isEqualTo(1000);
  }

  @Test
  void aGenerationOfASuccessorTakesNoProgressAway() {
    SeenBounds taken = new SeenBounds(LIMITS, START, 0, 2, START);
    taken.published(2, published("A100", Optional.of(START)));
    TelemetryReport report = report(step(2, 0.1), 100, 900, List.of(), null);
    TelemetryReport seen = taken.cut(report, Instant.EPOCH, START.plusSeconds(1));
    assertThat(seen.progress().scaleInvariantSteps()).isEqualTo(900);
  }

  @Test
  void aCheckpointIsOfTheJobsLife() {
    assertThat(saved(START.minus(Duration.ofDays(365)))).isEqualTo(START);
    assertThat(saved(START.plusSeconds(10))).isEqualTo(START.plusSeconds(10));
    assertThat(saved(START.plus(Duration.ofDays(365)))).isEqualTo(START.plusSeconds(40));
  }

  @Test
  void aStartTakesTheTimeThatTheOperatorSawWithoutTraining() {
    Instant allocated = START.minusSeconds(20);
    bounds.published(
        2, new SeenBounds.Published(1, 2, "", Optional.of(START), Optional.of(allocated)));
    assertThat(start(bounds, Instant.EPOCH)).as("the first").isEqualTo(30);
    assertThat(start(bounds, START.minusSeconds(15))).as("trained on for 5 s").isEqualTo(25);
    assertThat(start(bounds, START.minusSeconds(60))).as("waited before").isEqualTo(30);
  }

  @Test
  void aStartAfterStepsThatAnotherOperatorSawIsNotMeasured() {
    SeenBounds taken = new SeenBounds(LIMITS, START, 0, 2, START);
    taken.published(
        2,
        new SeenBounds.Published(
            1, 2, "", Optional.of(START), Optional.of(START.minusSeconds(900))));
    assertThat(start(taken, Instant.EPOCH)).isZero();
    taken.published(2, new SeenBounds.Published(1, 2, "", Optional.of(START), Optional.of(START)));
    assertThat(start(taken, Instant.EPOCH)).as("given its slots since").isEqualTo(10);
  }

  @Test
  void aProfileIsFiledUnderATypeThatTheJobHad() {
    bounds.published(2, new SeenBounds.Published(0, 0, "", Optional.of(START), Optional.empty()));
    bounds.published(3, published("T4", Optional.of(START)));
    assertThat(type(step(2, 0.1), 3)).as("an agent that names none").isEqualTo("T4");
    assertThat(type(step(2, 0.1).onType("A100"), 3)).as("measured before").isEqualTo("A100");
    assertThat(type(step(2, 0.1).onType("H100"), 3)).as("never had").isEqualTo("T4");
  }

  private String type(StepProfile profile, long generation) {
    TelemetryReport report = report(profile, 100, 0, List.of(), null);
    TelemetryReport from =
        new TelemetryReport(
            report.namespace(),
            report.job(),
            report.pod(),
            generation,
            report.sequence(),
            report.replicas(),
            report.batch(),
            report.profiles(),
            report.gradient(),
            report.progress(),
            report.trainingLoss(),
            report.learningRate(),
            report.checkpoint(),
            report.switches(),
            report.outcome());
    return bounds
        .cut(from, Instant.EPOCH, START.plusSeconds(40))
        .profiles()
        .getFirst()
        .typeOrEmpty();
  }

  private static SeenBounds.Published published(String type, Optional<Instant> at) {
    return new SeenBounds.Published(1, 2, type, at, at);
  }

  /** Pause of a start that is reported 10 s after the beginning. */
  private static double start(SeenBounds bounds, Instant lastStep) {
    var said = new Switch(2, 0, 2, Switch.Cause.START, 1);
    TelemetryReport report = report(step(2, 0.1), 100, 0, List.of(said), null);
    return bounds.cut(report, lastStep, START.plusSeconds(10)).switches().getFirst().pauseSeconds();
  }

  private List<Double> pause(long generation, double seconds, long after) {
    var lived = new Switch(generation, 1, 2, Switch.Cause.RESCALE, seconds);
    return bounds
        .cut(
            report(step(2, 0.1), 100, 0, List.of(lived), null),
            Instant.EPOCH,
            START.plusSeconds(after))
        .switches()
        .stream()
        .map(Switch::pauseSeconds)
        .toList();
  }

  private double done(double steps, long after) {
    return cut(step(2, 0.1), 100, steps, after).progress().scaleInvariantSteps();
  }

  private Instant saved(Instant said) {
    var checkpoint = new CheckpointInfo(1, 1, said.toEpochMilli());
    TelemetryReport cut =
        bounds.cut(
            report(step(2, 0.1), 100, 0, List.of(), checkpoint),
            Instant.EPOCH,
            START.plusSeconds(40));
    return Instant.ofEpochMilli(Objects.requireNonNull(cut.checkpoint()).savedAtEpochMillis());
  }

  private TelemetryReport cut(StepProfile profile, double noise, double steps, long after) {
    return bounds.cut(
        report(profile, noise, steps, List.of(), null), Instant.EPOCH, START.plusSeconds(after));
  }

  private static StepProfile step(int replicas, double seconds) {
    return new StepProfile(1, replicas, 32, 10, seconds, 0);
  }

  private static TelemetryReport report(
      StepProfile profile,
      double noise,
      double steps,
      List<Switch> switches,
      @Nullable CheckpointInfo checkpoint) {
    return new TelemetryReport(
        "team",
        "bert",
        "a",
        1,
        1,
        2,
        new BatchPlan(32, 0),
        List.of(profile),
        new GradientStats(1, noise, 1),
        new Progress(1, steps, 1000, 1, 0),
        null,
        null,
        checkpoint,
        switches,
        null);
  }
}
