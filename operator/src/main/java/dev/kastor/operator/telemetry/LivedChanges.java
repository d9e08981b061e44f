package dev.kastor.operator.telemetry;

import dev.kastor.crds.TrainingJobStatus.TrainingStatus;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Counts the live changes of a job and remembers their pauses and the extremes it ran with. */
final class LivedChanges {
  private static final int PAUSES_KEPT = 512;

  private final Deque<Long> pauses = new ArrayDeque<>();
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
    if (before.medianPauseMillis() != null) {
      pauses.add(before.medianPauseMillis());
    }
    if (before.maxPauseMillis() != null) {
      maxPauseMillis = before.maxPauseMillis();
    }
  }

  void observe(TelemetryReport report) {
    if (report.replicas() > 0) {
      int global = report.batch().globalBatchSize(report.replicas());
      minReplicas = minReplicas == 0 ? report.replicas() : Math.min(minReplicas, report.replicas());
      maxReplicas = Math.max(maxReplicas, report.replicas());
      minGlobalBatch = minGlobalBatch == 0 ? global : Math.min(minGlobalBatch, global);
      maxGlobalBatch = Math.max(maxGlobalBatch, global);
    }
    report.switches().forEach(this::observe);
  }

  private void observe(Switch lived) {
    // Rank 0 may move with a change, and then two replicas report it.
    if (lived.generation() <= newestGeneration) {
      return;
    }
    newestGeneration = lived.generation();
    fresh.add(lived);
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
    pauses.addLast(millis);
    if (pauses.size() > PAUSES_KEPT) {
      pauses.removeFirst();
    }
  }

  /** What was lived since the last call. */
  List<Switch> takeFresh() {
    List<Switch> taken = List.copyOf(fresh);
    fresh.clear();
    return taken;
  }

  @Nullable Long medianPauseMillis() {
    if (pauses.isEmpty()) {
      return null;
    }
    List<Long> sorted = pauses.stream().sorted().toList();
    return sorted.get((sorted.size() - 1) / 2);
  }

  @Nullable Long maxPauseMillis() {
    return maxPauseMillis < 0 ? null : maxPauseMillis;
  }

  /** What a live change costs; empty before the first. */
  Optional<Duration> cost() {
    return Optional.ofNullable(medianPauseMillis()).map(Duration::ofMillis);
  }
}
