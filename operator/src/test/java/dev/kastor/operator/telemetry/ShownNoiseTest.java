package dev.kastor.operator.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.TelemetryReport;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ShownNoiseTest {
  private static final int INITIAL = 32;

  private final ShownNoise noise = new ShownNoise(INITIAL);

  @ParameterizedTest
  @CsvSource({"0.5, 64", "8, 64", "8, 1024", "300, 256"})
  void leavesTheTruth(double variance, int batch) {
    var truth = new GradientStats(1, variance, INITIAL);
    noise.observe(report(1, batch, 100, 50));
    noise.observe(report(1, batch, 110, 50 + 10 * truth.gain(batch)));
    assertThat(noise.most()).isCloseTo(1.25 * truth.noiseScale(), within(1e-6 * noise.most()));
  }

  @Test
  void aStepThatGainsNoMoreThanOneOfTheInitialBatchShowsNoNoise() {
    noise.observe(report(1, 128, 100, 50));
    noise.observe(report(1, 128, 110, 60));
    assertThat(noise.most()).isZero();
    noise.observe(report(1, 128, 120, 60));
    assertThat(noise.most()).isZero();
  }

  @Test
  void theInitialBatchAndOtherBatchesTellNothing() {
    noise.observe(report(1, INITIAL, 100, 50));
    noise.observe(report(1, INITIAL, 110, 60));
    noise.observe(report(2, 128, 120, 70));
    noise.observe(report(3, 128, 130, 80));
    noise.observe(report(3, 128, 130, 80));
    assertThat(noise.most()).isInfinite();
  }

  @Test
  void aStepThatGainsItsWholeBatchBoundsNothing() {
    noise.observe(report(1, 128, 100, 50));
    noise.observe(report(1, 128, 110, 90));
    assertThat(noise.most()).isInfinite();
  }

  private static TelemetryReport report(long generation, int batch, long step, double done) {
    return new TelemetryReport(
        "team",
        "bert",
        "bert-0",
        generation,
        step,
        1,
        new BatchPlan(batch, 0),
        List.of(),
        null,
        new Progress(step, done, 1000, 1, 0),
        null,
        null,
        null,
        List.of(),
        null);
  }
}
