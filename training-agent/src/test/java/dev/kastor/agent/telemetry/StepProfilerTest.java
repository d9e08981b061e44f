package dev.kastor.agent.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.TelemetryReport;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StepProfilerTest {
  static StepSample sample(int replicas, int atomicBatch, double compute, double sync) {
    return sample("", replicas, atomicBatch, compute, sync);
  }

  private static StepSample sample(
      String gpuType, int replicas, int atomicBatch, double compute, double sync) {
    TrainingStatus status =
        new TrainingStatus(
            1,
            1,
            gpuType,
            replicas,
            new BatchPlan(atomicBatch, 0),
            Optional.empty(),
            new Progress(1, 1, 10, 8, 0),
            Optional.of(0.1));
    return new StepSample(status, true, 1, compute, sync, 2.5);
  }

  @Test
  void typesAreMeasuredApart() {
    StepProfiler profiler = new StepProfiler();
    profiler.add(sample("a100", 2, 8, 0.2, 0.1));
    profiler.add(sample("t4", 2, 8, 0.4, 0.1));
    assertThat(profiler.profiles()).extracting(StepProfile::gpuType).containsExactly("a100", "t4");
    assertThat(profiler.profiles()).extracting(StepProfile::steps).containsExactly(1, 1);
  }

  @Test
  void averagesByPlacementAndBatch() {
    StepProfiler one = new StepProfiler();
    one.add(sample(2, 8, 0.2, 0.1));
    one.add(sample(2, 8, 0.4, 0.1));
    StepProfiler other = new StepProfiler();
    other.add(sample(2, 8, 0.6, 0.4));
    other.add(sample(3, 8, 1, 0));
    one.add(other);
    assertThat(one.profiles()).hasSize(2);
    StepProfile first = one.profiles().getFirst();
    assertThat(first.steps()).isEqualTo(3);
    assertThat(first.stepSeconds()).isCloseTo(0.6, within(1e-12));
    assertThat(first.syncSeconds()).isCloseTo(0.2, within(1e-12));
    assertThat(one.profiles().getLast()).isEqualTo(new StepProfile(1, 3, 8, 1, 1, 0));
  }

  @Test
  void aRoundCountsAsManyTimesAsItHasSteps() {
    StepProfiler profiler = new StepProfiler();
    StepSample step = sample(2, 8, 0.2, 0.4);
    profiler.add(step);
    profiler.add(new StepSample(step.status(), true, 3, 0.2, 0.1, 2.5));
    StepProfile both = profiler.profiles().getFirst();
    assertThat(both.steps()).isEqualTo(4);
    assertThat(both.stepSeconds()).isCloseTo(0.375, within(1e-12));
    assertThat(both.syncSeconds()).isCloseTo(0.175, within(1e-12));
  }

  @Test
  void dropsTheOldestWhenThereAreTooMany() {
    StepProfiler profiler = new StepProfiler();
    for (int batch = 1; batch <= TelemetryReport.MAX_ENTRIES + 5; batch++) {
      profiler.add(sample(1, batch, 1, 0));
    }
    assertThat(profiler.profiles()).hasSize(TelemetryReport.MAX_ENTRIES);
    assertThat(profiler.profiles().getFirst().atomicBatchSize()).isEqualTo(6);
  }
}
