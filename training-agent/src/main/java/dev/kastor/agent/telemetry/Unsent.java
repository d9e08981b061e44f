package dev.kastor.agent.telemetry;

import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What was measured since the last report that arrived; bounded. Not thread-safe. */
final class Unsent {
  private static final String HELD_OUT = "held-out/";

  /** See {@link dev.kastor.protocol.Scalars#NAME}. */
  private static final int MOST_CHARACTERS = 64;

  private final StepProfiler profiler = new StepProfiler();
  private final Deque<Switch> switches = new ArrayDeque<>();
  private double lossSum;
  private long losses;

  /** Newest values of held-out metrics by the name of their series. */
  private final Map<String, Double> heldOut = new TreeMap<>();

  void add(StepSample sample) {
    if (sample.typical()) {
      profiler.add(sample);
    }
    if (Double.isFinite(sample.loss())) {
      lossSum += sample.steps() * sample.loss();
      losses += sample.steps();
    }
  }

  /** Keeps a value under a name that a report may have. */
  void heldOut(String metric, double value) {
    if (Double.isFinite(value)) {
      String name = HELD_OUT + metric.replaceAll("[^A-Za-z0-9._/-]", "_");
      heldOut.put(name.substring(0, Math.min(name.length(), MOST_CHARACTERS)), value);
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
    heldOut.putAll(later.heldOut);
  }

  StepProfiler profiler() {
    return profiler;
  }

  List<Switch> switches() {
    return new ArrayList<>(switches);
  }

  @Nullable Map<String, Double> scalars() {
    return heldOut.isEmpty() ? null : new TreeMap<>(heldOut);
  }

  @Nullable Double meanLoss() {
    return losses == 0 ? null : lossSum / losses;
  }
}
