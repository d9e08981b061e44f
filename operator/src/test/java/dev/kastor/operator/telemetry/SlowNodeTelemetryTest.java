package dev.kastor.operator.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.mapping.JobSpecs;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.estimate.GoodputEstimator;
import dev.kastor.scheduler.estimate.Learner;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.speed.NodeSpeeds;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** An honest job on a node that is throttled to half its speed while it trains there. */
class SlowNodeTelemetryTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final int SECONDS = 10;
  private static final BatchPlan BATCH = new BatchPlan(32, 0);
  private static final double STEP = 0.1;

  /** Gain of a step of twice the initial batch at the noise that it reports. */
  private static final double GAIN = 1.8;

  private final TrainingJob job = TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive);
  private final JobTelemetry telemetry =
      new JobTelemetry(
          job,
          new Learner(JobSpecs.of(job), new GoodputEstimator(JobSpecs.of(job)), Optional.empty()),
          TestJobs.steps(job, new NodeSpeeds()),
          START);
  private final List<NodeSpeeds.Changed> changed = new ArrayList<>();
  private Instant now = START;
  private long sequence;
  private double steps;
  private boolean parted;

  /** Trains with steps of this length, and reports every ten seconds. */
  private void train(int reports, double stepSeconds) {
    for (int i = 0; i < reports; i++) {
      now = now.plusSeconds(SECONDS);
      steps += SECONDS / stepSeconds;
      telemetry.accept(
          new TelemetryReport(
              "team",
              "bert",
              "bert-0",
              1,
              ++sequence,
              2,
              BATCH,
              List.of(new StepProfile(1, 2, 32, 10, stepSeconds, stepSeconds / 10)),
              new GradientStats(1, 8, 32),
              new Progress(Math.round(steps), GAIN * steps, 1_000_000, Math.round(steps * 64), 0),
              null,
              null,
              null,
              List.of(),
              null),
          now);
      changed.addAll(telemetry.takeSpeedsChanged());
      parted |= telemetry.parted(now).isPresent();
    }
  }

  private double believedStepSeconds() {
    return telemetry
        .measured(now.plusSeconds(SECONDS))
        .model()
        .orElseThrow()
        .stepSeconds(new PlacementShape(1, 2, ""), BATCH);
  }

  @Test
  void itIsNoLiarAndLearnsTheSpeedOfNodesThatAreWell() {
    telemetry.published(
        1,
        new SeenBounds.Published(1, 2, "", Optional.of(START), Optional.of(START)),
        List.of("n1"));
    train(30, STEP);
    assertThat(changed).isEmpty();
    train(60, 2 * STEP);
    assertThat(changed).containsExactly(new NodeSpeeds.Changed("n1", 1, 2));
    assertThat(believedStepSeconds()).isCloseTo(STEP, within(STEP / 20));
    assertThat(parted).isFalse();
    train(60, STEP);
    assertThat(changed)
        .containsExactly(new NodeSpeeds.Changed("n1", 1, 2), new NodeSpeeds.Changed("n1", 2, 1));
    assertThat(believedStepSeconds()).isCloseTo(STEP, within(STEP / 20));
    assertThat(parted).isFalse();
  }
}
