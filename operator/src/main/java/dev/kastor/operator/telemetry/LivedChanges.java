package dev.kastor.operator.telemetry;

import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Counts of a job's live changes, their longest pause, and the extremes it ran with. */
final class LivedChanges {
  private final List<Switch> fresh = new ArrayList<>();
  private long newestGeneration;
  private long maxPauseMillis = -1;
  int rescales;
  int grows;
  int shrinks;
  int minReplicas;
  int maxReplicas;
  int minGlobalBatch;
  int maxGlobalBatch;

  /** Continues from what a status says. */
  LivedChanges(@Nullable TrainingStatus before, long generation) {
    newestGeneration = generation;
    if (before == null) {
      return;
    }
    rescales = before.rescales();
    grows = before.grows();
    shrinks = before.shrinks();
    minReplicas = before.minReplicas();
    maxReplicas = before.maxReplicas();
    minGlobalBatch = before.minGlobalBatch();
    maxGlobalBatch = before.maxGlobalBatch();
    if (before.maxPauseMillis() != null) {
      maxPauseMillis = before.maxPauseMillis();
    }
  }

  /**
   * Takes in a report.
   *
   * @return the same with those of its changes that were not reported before
   */
  TelemetryReport observe(TelemetryReport report) {
    if (report.replicas() > 0) {
      int global = report.batch().globalBatchSize(report.replicas());
      minReplicas = minReplicas == 0 ? report.replicas() : Math.min(minReplicas, report.replicas());
      maxReplicas = Math.max(maxReplicas, report.replicas());
      minGlobalBatch = minGlobalBatch == 0 ? global : Math.min(minGlobalBatch, global);
      maxGlobalBatch = Math.max(maxGlobalBatch, global);
    }
    // Rank 0 may move with a change, and then two replicas report it.
    List<Switch> news = new ArrayList<>();
    for (Switch lived : report.switches()) {
      if (lived.generation() > newestGeneration) {
        newestGeneration = lived.generation();
        news.add(lived);
        observe(lived);
      }
    }
    fresh.addAll(news);
    return report.withSwitches(news);
  }

  private void observe(Switch lived) {
    if (lived.cause() != Switch.Cause.RESCALE) {
      return;
    }
    rescales++;
    if (lived.replicasAfter() > lived.replicasBefore()) {
      grows++;
    } else if (lived.replicasAfter() < lived.replicasBefore()) {
      shrinks++;
    }
    long millis = Math.round(lived.pauseSeconds() * 1000);
    maxPauseMillis = Math.max(maxPauseMillis, millis);
  }

  /** What was lived since the last call. */
  List<Switch> takeFresh() {
    List<Switch> taken = List.copyOf(fresh);
    fresh.clear();
    return taken;
  }

  @Nullable Long maxPauseMillis() {
    return maxPauseMillis < 0 ? null : maxPauseMillis;
  }
}
