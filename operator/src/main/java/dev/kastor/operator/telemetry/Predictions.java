package dev.kastor.operator.telemetry;

import dev.kastor.scheduler.BatchChoice;
import dev.kastor.scheduler.JobSpec;
import dev.kastor.scheduler.PlacementShape;
import dev.kastor.scheduler.goodput.GoodputModel;
import java.util.LinkedHashMap;
import java.util.Map;

/** Predicted goodput by replica count, for people: it shows why a job has its size. */
final class Predictions {
  private static final int MOST_SIZES = 16;

  private Predictions() {}

  /** Up to 16 sizes on one node: all of a small range, powers of two of a large one. */
  static Map<String, Double> bySize(JobSpec spec, GoodputModel model) {
    int max = Math.min(spec.elasticity().max(), BatchChoice.maxReplicas(spec));
    Map<String, Double> predicted = new LinkedHashMap<>();
    boolean all = max <= MOST_SIZES;
    for (int replicas = 1; replicas <= max; replicas = all ? replicas + 1 : replicas * 2) {
      if (spec.elasticity().allows(replicas)) {
        double goodput = BatchChoice.goodput(spec, model, new PlacementShape(1, replicas, ""));
        if (Double.isFinite(goodput) && goodput > 0) {
          predicted.put(Integer.toString(replicas), Math.round(goodput * 10) / 10.0);
        }
      }
    }
    return predicted;
  }
}
