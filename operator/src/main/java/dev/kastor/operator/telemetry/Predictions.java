package dev.kastor.operator.telemetry;

import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.JobSpec;
import java.util.LinkedHashMap;
import java.util.Map;

/** Predicted goodput by replica count and by GPU type, for people: it shows why a job has both. */
final class Predictions {
  private static final int MOST_SIZES = 16;

  private Predictions() {}

  /**
   * Up to 16 sizes on one node of a GPU type: all of a small range, powers of two of a large one.
   * Empty where the type was not measured yet.
   */
  static Map<String, Double> bySize(JobSpec spec, GoodputModel model, String type) {
    if (!model.knows(type)) {
      return Map.of();
    }
    int max = Math.min(spec.elasticity().max(), BatchChoice.maxReplicas(spec));
    Map<String, Double> predicted = new LinkedHashMap<>();
    boolean all = max <= MOST_SIZES;
    for (int replicas = 1; replicas <= max; replicas = all ? replicas + 1 : replicas * 2) {
      if (spec.elasticity().allows(replicas)) {
        put(predicted, Integer.toString(replicas), spec, model, replicas, type);
      }
    }
    return predicted;
  }

  /** Goodput of so many replicas on one node of each GPU type that was measured. */
  static Map<String, Double> byType(JobSpec spec, GoodputModel model, int replicas) {
    Map<String, Double> predicted = new LinkedHashMap<>();
    for (String type : model.paramsByType().keySet()) {
      if (!type.isEmpty() && replicas > 0) {
        put(predicted, type, spec, model, replicas, type);
      }
    }
    return predicted;
  }

  private static void put(
      Map<String, Double> to,
      String key,
      JobSpec spec,
      GoodputModel model,
      int replicas,
      String type) {
    double goodput = BatchChoice.goodput(spec, model, new PlacementShape(1, replicas, type));
    if (Double.isFinite(goodput) && goodput > 0) {
      to.put(key, Math.round(goodput * 10) / 10.0);
    }
  }
}
