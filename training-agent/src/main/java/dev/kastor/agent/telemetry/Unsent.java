package dev.kastor.agent.telemetry;

import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What was measured since the last report that arrived; bounded. Not thread-safe. */
final class Unsent {
  private final StepProfiler profiler = new StepProfiler();
  private final Deque<Switch> switches = new ArrayDeque<>();
  private double lossSum;
  private long losses;

  void add(StepSample sample) {
    if (sample.typical()) {
      profiler.add(sample);
    }
    if (Double.isFinite(sample.loss())) {
      lossSum += sample.loss();
      losses++;
    }
  }

  void add(Switch change) {
    switches.addLast(change);
    while (switches.size() > TelemetryReport.MAX_ENTRIES) {
      switches.removeFirst();
    }
  }

  /** Adds what came after. */
  void add(Unsent later) {
    profiler.add(later.profiler);
    later.switches.forEach(this::add);
    lossSum += later.lossSum;
    losses += later.losses;
  }

  StepProfiler profiler() {
    return profiler;
  }

  List<Switch> switches() {
    return new ArrayList<>(switches);
  }

  @Nullable Double meanLoss() {
    return losses == 0 ? null : lossSum / losses;
  }
}
