package dev.kastor.traces.fit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.testkit.PublishedTraces;
import dev.kastor.traces.Application;
import dev.kastor.traces.NoiseCurve;
import dev.kastor.traces.NoiseCurve.Point;
import dev.kastor.traces.ParametricApplication;
import dev.kastor.traces.ParametricApplication.OnGpu;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.measured.PolluxApplications;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
final class ApplicationFitTest {
  private static SequencedMap<String, String> types(String... namesAndTypes) {
    SequencedMap<String, String> types = new LinkedHashMap<>();
    for (int i = 0; i < namesAndTypes.length; i += 2) {
      types.put(namesAndTypes[i], namesAndTypes[i + 1]);
    }
    return types;
  }

  private static ParametricApplication truth() {
    SequencedMap<String, OnGpu> byGpuType = new LinkedHashMap<>();
    BatchLimits limits = new BatchLimits(64, 2048, 16, 256, true);
    byGpuType.put(
        "aws", new OnGpu(new ThroughputParams(0.05, 0.004, 0.4, 0.01, 0.1, 0.005, 2), limits));
    byGpuType.put(
        "dgx", new OnGpu(new ThroughputParams(0.01, 0.001, 0.1, 0.002, 0.03, 0.001, 3), limits));
    return new ParametricApplication(
        "net",
        byGpuType,
        20_000,
        10,
        new NoiseCurve(List.of(new Point(0, 100), new Point(0.5, 900), new Point(0.9, 1000))),
        45,
        32);
  }

  @Test
  void recoversAModelFromItsOwnStepTimes() {
    ApplicationFit fit = ApplicationFit.of(truth(), types("t4", "aws", "a100", "dgx"));
    ParametricApplication fitted = fit.application();
    assertThat(fitted.gpuTypes()).containsExactly("t4", "a100");
    assertThat(fitted.totalSteps()).isEqualTo(20_000);
    assertThat(fitted.epochs()).isEqualTo(10);
    assertThat(fitted.restartSeconds()).isEqualTo(45);
    assertThat(fitted.maxReplicas()).isEqualTo(32);
    assertThat(fitted.batchLimits("t4")).isEqualTo(truth().batchLimits("aws"));
    fit.misfits()
        .values()
        .forEach(misfit -> {
          assertThat(misfit.samples()).isGreaterThan(100);
          assertThat(misfit.median()).isLessThan(0.01);
          assertThat(misfit.p90()).isLessThan(0.03);
        });
  }

  @Test
  void keepsTheNoiseWithinItsTolerance() {
    ParametricApplication fitted = ApplicationFit.of(truth(), types("t4", "aws")).application();
    for (int epoch = 0; epoch < 10; epoch++) {
      double expected = truth().gradient(64, epoch).noiseScale();
      assertThat(fitted.gradient(64, epoch).noiseScale())
          .isCloseTo(expected, within(0.21 * expected));
    }
  }

  @Test
  void refusesATypeWithoutMeasurements() {
    Application tooSmall = truth();
    assertThatThrownBy(() -> ApplicationFit.of(tooSmall, types("v100", "v100")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("net", "v100");
  }

  @Test
  void meetsThePublishedStepTimes() throws TraceException {
    for (Application measured :
        PolluxApplications.read(PublishedTraces.path("pollux/applications")).values()) {
      ApplicationFit fit = ApplicationFit.of(measured, types("", ""));
      ApplicationFit.Misfit misfit = fit.misfits().firstEntry().getValue();
      assertThat(misfit.median()).as(measured.name()).isLessThan(0.09);
      assertThat(misfit.p90()).as(measured.name()).isLessThan(0.27);
      int batch = measured.batchLimits("").maxGlobalBatch();
      assertThat(fit.application().remainingSteps(batch, 0))
          .as("steps of %s at its largest batch", measured.name())
          .isCloseTo(measuredSteps(measured, batch), within(0.35 * measuredSteps(measured, batch)));
    }
  }

  /** By gradient statistics, as a replay trains, rather than by the published step counts. */
  private static double measuredSteps(Application measured, int batch) {
    double steps = 0;
    for (int epoch = 0; epoch < measured.epochs(); epoch++) {
      steps +=
          (measured.progressAt(epoch + 1) - measured.progressAt(epoch))
              / measured.gradient(batch, epoch).gain(batch);
    }
    return steps;
  }
}
