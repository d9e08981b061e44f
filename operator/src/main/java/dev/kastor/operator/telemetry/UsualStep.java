package dev.kastor.operator.telemetry;

import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.TelemetryReport;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The median time of a step over a job's newest reports. Not thread-safe. */
final class UsualStep {
  private static final int REPORTS_KEPT = 15;

  private final Deque<Double> newest = new ArrayDeque<>();

  void observe(TelemetryReport report) {
    int passes = report.batch().accumulationSteps() + 1;
    for (StepProfile profile : report.profiles()) {
      newest.addLast(profile.stepSeconds() * passes);
      if (newest.size() > REPORTS_KEPT) {
        newest.removeFirst();
      }
    }
  }

  /** Seconds; 0 before the first report. */
  double seconds() {
    if (newest.isEmpty()) {
      return 0;
    }
    List<Double> sorted = newest.stream().sorted().toList();
    return sorted.get(sorted.size() / 2);
  }
}
