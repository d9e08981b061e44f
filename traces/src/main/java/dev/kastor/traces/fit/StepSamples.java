package dev.kastor.traces.fit;

import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Step times of an application at packed placements and at batches spread evenly in their
 * logarithm, where it was measured.
 */
final class StepSamples {
  private static final int MOST_NODES = 16;
  private static final int BATCHES = 8;

  private StepSamples() {}

  private record Shape(int nodes, int replicas) {}

  static List<StepProfile> of(Application application, String gpuType) {
    Map<Shape, int[]> placements = new LinkedHashMap<>();
    for (int[] placement : placements()) {
      placements.putIfAbsent(
          new Shape(placement.length, Arrays.stream(placement).sum()), placement);
    }
    List<StepProfile> samples = new ArrayList<>();
    placements.forEach((shape, placement) -> {
      if (shape.replicas() > application.maxReplicas()) {
        return;
      }
      for (int batch : batches(application.batchLimits(gpuType))) {
        StepTime time = application.stepTime(gpuType, placement, batch);
        if (time.isKnown()) {
          samples.add(
              new StepProfile(
                  shape.nodes(),
                  shape.replicas(),
                  batch,
                  1,
                  time.stepSeconds(),
                  Math.max(0, time.syncSeconds())));
        }
      }
    });
    return samples;
  }

  /** Parts of one node, then whole nodes of one, two, four or eight replicas. */
  private static List<int[]> placements() {
    List<int[]> placements = new ArrayList<>();
    for (int replicas = 1; replicas <= 8; replicas++) {
      placements.add(new int[] {replicas});
    }
    for (int each : new int[] {4, 8, 2, 1}) {
      for (int nodes = 2; nodes <= MOST_NODES; nodes += nodes < 4 ? 1 : 2) {
        int[] placement = new int[nodes];
        Arrays.fill(placement, each);
        placements.add(placement);
      }
    }
    return placements;
  }

  private static Iterable<Integer> batches(BatchLimits limits) {
    TreeSet<Integer> batches = new TreeSet<>();
    double ratio = (double) limits.maxAtomicBatch() / limits.minAtomicBatch();
    for (int i = 0; i < BATCHES; i++) {
      batches.add(
          (int) Math.round(limits.minAtomicBatch() * Math.pow(ratio, (double) i / (BATCHES - 1))));
    }
    return batches;
  }
}
