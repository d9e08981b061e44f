package dev.kastor.operator.telemetry;

import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.Progress;
import org.jspecify.annotations.Nullable;

/** The summary of a job whose end is known from a replica's last words only. */
final class Endings {
  private static final TrainingStatus NOTHING =
      new TrainingStatus(
          0, 0, 0, 0, 0, null, 0, 0, 0, null, null, null, null, null, null, null, null, null, null,
          0, 0, 0, null, null, null, 0, 0, 0, 0, null, null, null, null);

  private Endings() {}

  /** What was known before, with the end added. */
  static TrainingStatus of(@Nullable TrainingStatus known, Outcome outcome) {
    TrainingStatus before = known == null ? NOTHING : known;
    Progress progress = outcome.progress();
    return new TrainingStatus(
        progress == null ? before.step() : progress.step(),
        progress == null
            ? before.scaleInvariantMillisteps()
            : Math.round(progress.scaleInvariantSteps() * 1000),
        100,
        progress == null ? before.examples() : progress.examples(),
        progress == null ? before.epoch() : progress.epoch(),
        null,
        before.globalBatch(),
        before.atomicBatch(),
        before.accumulationSteps(),
        before.goodput(),
        before.throughput(),
        before.efficiency(),
        before.noiseScale(),
        before.predictedGoodput(),
        before.gpuType(),
        before.goodputByGpuType(),
        before.loss(),
        before.checkpointStep(),
        before.checkpointTime(),
        before.rescales(),
        before.grows(),
        before.shrinks(),
        before.medianPauseMillis(),
        before.maxPauseMillis(),
        before.medianStartMillis(),
        before.minReplicas(),
        before.maxReplicas(),
        before.minGlobalBatch(),
        before.maxGlobalBatch(),
        outcome.metricName(),
        outcome.metric(),
        outcome.lostOrRepeatedExamples(),
        before.mostExamples());
  }
}
