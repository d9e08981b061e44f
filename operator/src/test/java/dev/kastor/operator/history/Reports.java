package dev.kastor.operator.history;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.Staleness;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.model.JobId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reports that hold what a test cares about. */
public record Reports(
    JobId job, int replicas, BatchPlan batch, @Nullable GradientStats gradient, Progress progress) {
  private static final int INITIAL_BATCH = 32;

  /** Two replicas with 32 examples each, no gradient statistics, 1000 steps declared, none done. */
  public static Reports of(JobId job) {
    return new Reports(job, 2, new BatchPlan(32, 0), null, new Progress(0, 0, 1000, 0, 0));
  }

  public Reports size(int count, BatchPlan plan) {
    return new Reports(job, count, plan, gradient, progress);
  }

  /** Statistics for an initial batch of 32. */
  public Reports gradient(double squaredNorm, double variance) {
    var stats = new GradientStats(squaredNorm, variance, INITIAL_BATCH);
    return new Reports(job, replicas, batch, stats, progress);
  }

  public Reports total(double declared) {
    var of =
        new Progress(
            progress.step(),
            progress.scaleInvariantSteps(),
            declared,
            progress.examples(),
            progress.epoch());
    return new Reports(job, replicas, batch, gradient, of);
  }

  /** That many steps from the beginning, all with the present size and statistics. */
  public Reports step(long steps) {
    var none = new Progress(0, 0, progress.totalScaleInvariantSteps(), 0, 0);
    return new Reports(job, replicas, batch, gradient, none).advance(steps);
  }

  /** That many steps more with the present size and statistics. */
  public Reports advance(long steps) {
    int globalBatch = batch.globalBatchSize(replicas);
    double gain = gradient == null ? 1 : gradient.gain(globalBatch);
    var ahead =
        new Progress(
            progress.step() + steps,
            progress.scaleInvariantSteps() + steps * gain,
            progress.totalScaleInvariantSteps(),
            progress.examples() + steps * globalBatch,
            0);
    return new Reports(job, replicas, batch, gradient, ahead);
  }

  /** The report, with this loss. */
  public TelemetryReport loss(@Nullable Double loss) {
    return logged(loss, null);
  }

  /** The report of a parameter server that has counted so many updates. */
  public TelemetryReport counting(Staleness staleness, long droppedCopies) {
    return report(null, null, staleness, droppedCopies);
  }

  /** The report, with this loss and what else the script logged. */
  public TelemetryReport logged(@Nullable Double loss, @Nullable Map<String, Double> scalars) {
    return report(loss, scalars, null, null);
  }

  private TelemetryReport report(
      @Nullable Double loss,
      @Nullable Map<String, Double> scalars,
      @Nullable Staleness staleness,
      @Nullable Long droppedCopies) {
    return new TelemetryReport(
        job.namespace(),
        job.name(),
        job.name() + "-1",
        1,
        progress.step(),
        replicas,
        batch,
        List.of(),
        gradient,
        progress,
        loss,
        0.05,
        null,
        List.of(),
        null,
        null,
        scalars,
        null,
        staleness,
        droppedCopies);
  }
}
