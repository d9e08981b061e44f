package dev.kastor.traces.generate;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The numbers of replicas and batches that a careful owner would ask for: those that train between
 * half and four fifths as fast as the same number of replicas would ideally, as the workloads of
 * Pollux (OSDI 2021, section 5.1) are tuned. With fewer, replicas are left unused that would pay;
 * with more, most of them idle.
 */
final class TunedSizes {
  private static final double LEAST = 0.5;
  private static final double MOST = 0.8;
  private static final int GPUS_PER_NODE = 4;

  /** A number of replicas and its fastest global batch. */
  record Size(int replicas, int globalBatch) {}

  private record Best(Size size, double seconds) {}

  private final Application application;
  private final String gpuType;
  private final List<Size> sizes = new ArrayList<>();
  private final double aloneSeconds;

  /** Tunes an application on its first GPU type. */
  TunedSizes(Application application, int maxReplicas) {
    this.application = application;
    gpuType = application.gpuTypes().getFirst();
    int most = Math.min(maxReplicas, application.maxReplicas());
    Best alone = best(1);
    aloneSeconds = alone.seconds();
    for (int replicas = 2; replicas <= most; replicas++) {
      Best best = best(replicas);
      double share = aloneSeconds / best.seconds() / replicas;
      if (share >= LEAST && share <= MOST) {
        sizes.add(best.size());
      }
    }
    if (sizes.isEmpty()) {
      sizes.add(alone.size());
    }
  }

  /** All of them, by rising number of replicas; one replica if it scales worse than that. */
  List<Size> sizes() {
    return sizes;
  }

  /** Seconds that the work takes one replica. */
  double aloneSeconds() {
    return aloneSeconds;
  }

  /** The fastest batch of some replicas, at powers of two times the initial one. */
  private Best best(int replicas) {
    BatchLimits limits = application.batchLimits(gpuType);
    Best best = new Best(new Size(replicas, limits.initialGlobalBatch()), Double.POSITIVE_INFINITY);
    for (int batch = limits.initialGlobalBatch(); batch <= limits.maxGlobalBatch(); batch *= 2) {
      double seconds = seconds(replicas, batch, limits);
      if (seconds < best.seconds()) {
        best = new Best(new Size(replicas, batch), seconds);
      }
    }
    return best;
  }

  private double seconds(int replicas, int globalBatch, BatchLimits limits) {
    int each = Math.ceilDiv(globalBatch, replicas);
    int accumulation = Math.ceilDiv(each, limits.maxAtomicBatch()) - 1;
    int atomic = Math.ceilDiv(each, accumulation + 1);
    if (atomic < limits.minAtomicBatch() || (accumulation > 0 && !limits.accumulation())) {
      return Double.POSITIVE_INFINITY;
    }
    StepTime time = application.stepTime(gpuType, packed(replicas), atomic);
    int real = new BatchPlan(atomic, accumulation).globalBatchSize(replicas);
    return time.isKnown() && real <= limits.maxGlobalBatch()
        ? application.remainingSteps(real, 0) * time.stepSeconds(accumulation)
        : Double.POSITIVE_INFINITY;
  }

  private static int[] packed(int replicas) {
    int[] nodes = new int[Math.ceilDiv(replicas, GPUS_PER_NODE)];
    Arrays.fill(nodes, GPUS_PER_NODE);
    nodes[nodes.length - 1] = replicas - GPUS_PER_NODE * (nodes.length - 1);
    return nodes;
  }
}
