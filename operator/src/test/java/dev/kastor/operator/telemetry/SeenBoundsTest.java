package dev.kastor.operator.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.CheckpointInfo;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.BatchLimits;
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

  private final SeenBounds bounds = new SeenBounds(LIMITS, START, null, 0);

  @BeforeEach
  void publish() {
    bounds.published(1, new SeenBounds.Published(1, 2, Optional.of(START)));
  }

  @Test
  void aPauseIsNoLongerThanTheOperatorSaw() {
    assertThat(pause(1, 1e9, 40)).containsExactly(40.0);
    assertThat(pause(1, 2, 40)).containsExactly(2.0);
    assertThat(pause(1, 1e9, 86_400)).containsExactly(600.0);
  }

  @Test
  void aPauseForAGenerationThatWasNotPublishedIsNone() {
    bounds.published(2, new SeenBounds.Published(1, 2, Optional.empty()));
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
  void aCheckpointIsOfTheJobsLife() {
    assertThat(saved(START.minus(Duration.ofDays(365)))).isEqualTo(START);
    assertThat(saved(START.plusSeconds(10))).isEqualTo(START.plusSeconds(10));
    assertThat(saved(START.plus(Duration.ofDays(365)))).isEqualTo(START.plusSeconds(40));
  }

  private List<Double> pause(long generation, double seconds, long after) {
    var lived = new Switch(generation, 1, 2, Switch.Cause.RESCALE, seconds);
    return bounds
        .cut(report(step(2, 0.1), 100, 0, List.of(lived), null), START.plusSeconds(after))
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
        bounds.cut(report(step(2, 0.1), 100, 0, List.of(), checkpoint), START.plusSeconds(40));
    return Instant.ofEpochMilli(Objects.requireNonNull(cut.checkpoint()).savedAtEpochMillis());
  }

  private TelemetryReport cut(StepProfile profile, double noise, double steps, long after) {
    return bounds.cut(report(profile, noise, steps, List.of(), null), START.plusSeconds(after));
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
