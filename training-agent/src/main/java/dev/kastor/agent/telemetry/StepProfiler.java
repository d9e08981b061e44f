package dev.kastor.agent.telemetry;

import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.TelemetryReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Mean step times by placement, batch and GPU type; bounded: the oldest make room. Not thread-safe.
 */
public final class StepProfiler {
  private final Map<Shape, Sums> sums = new LinkedHashMap<>();

  /** Counts one step, or all of a round. */
  public void add(StepSample sample) {
    TrainingStatus status = sample.status();
    Shape shape =
        new Shape(
            status.nodes(), status.replicas(), status.batch().atomicBatchSize(), status.gpuType());
    int steps = sample.steps();
    put(shape, new Sums(steps, steps * sample.computeSeconds(), steps * sample.syncSeconds()));
  }

  /** Counts all that another one has. */
  public void add(StepProfiler other) {
    other.sums.forEach(this::put);
  }

  private void put(Shape shape, Sums more) {
    sums.merge(shape, more, Sums::plus);
    if (sums.size() > TelemetryReport.MAX_ENTRIES) {
      sums.remove(sums.keySet().iterator().next());
    }
  }

  /** The means in the order in which the shapes first came. */
  public List<StepProfile> profiles() {
    List<StepProfile> profiles = new ArrayList<>();
    sums.forEach((shape, sum) -> {
      double sync = sum.syncSeconds() / sum.steps();
      double step = sum.computeSeconds() / sum.steps() + sync;
      profiles.add(
          new StepProfile(
              shape.nodes(),
              shape.replicas(),
              shape.atomicBatchSize(),
              sum.steps(),
              step,
              sync,
              shape.gpuType()));
    });
    return profiles;
  }

  private record Shape(int nodes, int replicas, int atomicBatchSize, String gpuType) {}

  private record Sums(int steps, double computeSeconds, double syncSeconds) {
    Sums plus(Sums more) {
      return new Sums(
          steps + more.steps, computeSeconds + more.computeSeconds, syncSeconds + more.syncSeconds);
    }
  }
}
