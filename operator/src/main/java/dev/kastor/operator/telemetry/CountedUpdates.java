package dev.kastor.operator.telemetry;

import dev.kastor.protocol.Staleness;
import dev.kastor.protocol.TelemetryReport;
import java.util.ArrayList;
import java.util.List;

/**
 * Sum of the updates that the processes of a job's first parameter server counted, each since its
 * start. Owned by the job's telemetry.
 */
final class CountedUpdates {
  private String process = "";
  private UpdateCounts told = UpdateCounts.NONE;
  private UpdateCounts sum = UpdateCounts.NONE;
  private UpdateCounts fresh = UpdateCounts.NONE;

  /** Takes in what a report counts; most jobs' count nothing. */
  void observe(TelemetryReport report) {
    Staleness staleness = report.staleness();
    Long dropped = report.droppedCopies();
    if (staleness == null && dropped == null) {
      return;
    }
    UpdateCounts newest =
        new UpdateCounts(
            staleness == null ? List.of() : staleness.counts(), dropped == null ? 0 : dropped);
    UpdateCounts before = report.pod().equals(process) ? told : UpdateCounts.NONE;
    process = report.pod();
    told = newest;
    UpdateCounts more = more(newest, before);
    sum = plus(sum, more);
    fresh = plus(fresh, more);
  }

  /** All since the first report. */
  UpdateCounts sum() {
    return sum;
  }

  /** Those since the last call. */
  UpdateCounts takeFresh() {
    UpdateCounts taken = fresh;
    fresh = UpdateCounts.NONE;
    return taken;
  }

  /** What came beyond the counts of before; nothing of one that went back. */
  private static UpdateCounts more(UpdateCounts newest, UpdateCounts before) {
    List<Long> counts = new ArrayList<>();
    for (int i = 0; i < newest.byStaleness().size(); i++) {
      counts.add(Math.max(0, newest.byStaleness().get(i) - at(before, i)));
    }
    return new UpdateCounts(counts, Math.max(0, newest.droppedCopies() - before.droppedCopies()));
  }

  private static UpdateCounts plus(UpdateCounts one, UpdateCounts other) {
    List<Long> counts = new ArrayList<>();
    int size = Math.max(one.byStaleness().size(), other.byStaleness().size());
    for (int i = 0; i < size; i++) {
      counts.add(at(one, i) + at(other, i));
    }
    return new UpdateCounts(counts, one.droppedCopies() + other.droppedCopies());
  }

  private static long at(UpdateCounts counts, int staleness) {
    return staleness < counts.byStaleness().size() ? counts.byStaleness().get(staleness) : 0;
  }
}
