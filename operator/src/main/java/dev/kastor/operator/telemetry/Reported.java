package dev.kastor.operator.telemetry;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.TelemetryReport;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of a job's newest report. Of thousands of jobs each is kept for seconds: names that
 * are known anyway would be most of it.
 *
 * @param generation of its sender
 * @param replicas of that generation
 * @param batch batch plan in force
 * @param progress how far the job is
 */
public record Reported(long generation, int replicas, BatchPlan batch, Progress progress) {
  /** Of a report that follows another one. */
  static Reported of(TelemetryReport report, @Nullable Reported before) {
    BatchPlan batch =
        before != null && before.batch.equals(report.batch()) ? before.batch : report.batch();
    return new Reported(report.generation(), report.replicas(), batch, report.progress());
  }
}
