package dev.kastor.scheduler.goodput;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * Predicts a job's goodput for placements and batches, measured or not (Pollux, OSDI 2021, section
 * 3).
 *
 * @param paramsByType fitted step-time constants by GPU type; those of the empty type hold for all
 *     types that are not named
 * @param factorsByType corrections of step times by GPU type, of layouts that were observed; empty
 *     where the fit alone holds
 * @param gradient newest noise statistics
 */
public record GoodputModel(
    SequencedMap<String, ThroughputParams> paramsByType,
    SequencedMap<String, LayoutFactors> factorsByType,
    GradientStats gradient) {
  private static final int CANDIDATES = 50;
  private static final double EPSILON = 1e-8;

  private static final SequencedMap<String, LayoutFactors> AS_FITTED =
      Collections.unmodifiableSequencedMap(new LinkedHashMap<>());

  public GoodputModel {
    paramsByType = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(paramsByType));
    factorsByType =
        factorsByType.isEmpty()
            ? AS_FITTED
            : Collections.unmodifiableSequencedMap(new LinkedHashMap<>(factorsByType));
  }

  /** A model whose step times are as fitted. */
  public GoodputModel(SequencedMap<String, ThroughputParams> paramsByType, GradientStats gradient) {
    this(paramsByType, AS_FITTED, gradient);
  }

  /** A model that is the same for all GPU types. */
  public GoodputModel(ThroughputParams params, GradientStats gradient) {
    this(new LinkedHashMap<>(Map.of("", params)), gradient);
  }

  /** Whether step times on this GPU type are known. */
  public boolean knows(String gpuType) {
    return paramsByType.containsKey(gpuType) || paramsByType.containsKey("");
  }

  /**
   * The constants that hold for a GPU type.
   *
   * @throws IllegalArgumentException if the type is not known
   */
  public ThroughputParams params(String gpuType) {
    ThroughputParams own = paramsByType.get(gpuType);
    ThroughputParams found = own == null ? paramsByType.get("") : own;
    if (found == null) {
      throw new IllegalArgumentException(
          "no step times are known on GPU type '%s', only on %s"
              .formatted(gpuType, paramsByType.keySet()));
    }
    return found;
  }

  /**
   * Seconds of an optimizer step: as fitted, and for layouts that were observed corrected by what
   * was measured of them.
   *
   * @throws IllegalArgumentException if the GPU type is not known
   */
  public double stepSeconds(PlacementShape shape, BatchPlan batch) {
    double fitted = params(shape.gpuType()).stepSeconds(shape, batch);
    return factorsByType.isEmpty() ? fitted : fitted * factor(shape);
  }

  private double factor(PlacementShape shape) {
    String type = paramsByType.containsKey(shape.gpuType()) ? shape.gpuType() : "";
    LayoutFactors factors = factorsByType.get(type);
    return factors == null ? 1 : factors.factor(shape.nodes(), shape.replicas());
  }

  /** Examples per second. */
  public double throughput(PlacementShape shape, BatchPlan batch) {
    return batch.globalBatchSize(shape.replicas()) / stepSeconds(shape, batch);
  }

  /** Statistical efficiency of a global batch, in (0, 1]. */
  public double efficiency(double globalBatchSize) {
    return gradient.efficiency(globalBatchSize);
  }

  /** Effective examples per second. */
  public double goodput(PlacementShape shape, BatchPlan batch) {
    return throughput(shape, batch) * efficiency(batch.globalBatchSize(shape.replicas()));
  }

  /**
   * The batch of highest goodput; empty where no batch within the limits fits the replicas.
   *
   * <p>Tries 50 global batches in geometric progression from the smallest possible to the largest
   * allowed. A single replica that exceeds the initial batch accumulates at least once, so that its
   * gradient noise can be estimated from two passes (Pollux, section 4.3). The correction of a
   * layout is the same for all its batches, so that it does not change which is best.
   */
  public Optional<BestBatch> best(PlacementShape shape, BatchLimits limits) {
    return bestPlan(params(shape.gpuType()), shape, limits)
        .map(plan -> {
          int globalBatch = plan.globalBatchSize(shape.replicas());
          return new BestBatch(plan, globalBatch, throughput(shape, plan), efficiency(globalBatch));
        });
  }

  /** Policies ask this for hundreds of placements a round: nothing is allocated on the way. */
  private Optional<BatchPlan> bestPlan(
      ThroughputParams params, PlacementShape shape, BatchLimits limits) {
    int replicas = shape.replicas();
    double smallest =
        Math.max(limits.initialGlobalBatch(), (double) limits.minAtomicBatch() * replicas);
    double largest = limits.maxGlobalBatch();
    if (smallest > largest) {
      return Optional.empty();
    }
    double growth = Math.pow(largest / smallest, 1.0 / (CANDIDATES - 1));
    double sync = params.syncSeconds(shape);
    double best = -1;
    int bestAtomic = 0;
    int bestPasses = 0;
    int lastAtomic = 0;
    int lastPasses = 0;
    double globalBatch = smallest;
    for (int i = 0; i < CANDIDATES; i++, globalBatch *= growth) {
      int passes = passes(globalBatch, replicas, limits);
      int atomic = atomicBatch(globalBatch, replicas, passes, limits);
      if (atomic == 0 || (atomic == lastAtomic && passes == lastPasses)) {
        continue;
      }
      lastAtomic = atomic;
      lastPasses = passes;
      double compute = params.computeSeconds(atomic);
      double rounded = Math.multiplyExact(replicas, atomic * passes);
      double useful = rounded * gradient.efficiency(rounded);
      double accumulation = (passes - 1) * compute;
      // A step takes at least the longer of its parts: often that is enough to rule a batch out.
      if (useful <= best * (accumulation + Math.max(compute, sync))) {
        continue;
      }
      double goodput = useful / (accumulation + params.overlapped(compute, sync));
      if (goodput > best) {
        best = goodput;
        bestAtomic = atomic;
        bestPasses = passes;
      }
    }
    return bestPasses == 0
        ? Optional.empty()
        : Optional.of(new BatchPlan(bestAtomic, bestPasses - 1));
  }

  /** Splits a global batch over replicas and passes; empty if the limits do not allow it. */
  public static Optional<BatchPlan> split(double globalBatch, int replicas, BatchLimits limits) {
    int passes = passes(globalBatch, replicas, limits);
    int atomic = atomicBatch(globalBatch, replicas, passes, limits);
    return atomic == 0 ? Optional.empty() : Optional.of(new BatchPlan(atomic, passes - 1));
  }

  /** Passes that a replica's share needs. */
  private static int passes(double globalBatch, int replicas, BatchLimits limits) {
    double perReplica = globalBatch / replicas;
    int passes = (int) Math.ceil(perReplica / limits.maxAtomicBatch() - EPSILON);
    boolean noiseNeedsTwo = replicas == 1 && perReplica > limits.initialGlobalBatch() + EPSILON;
    return Math.max(passes, noiseNeedsTwo ? 2 : 1);
  }

  /** Examples of each pass; 0 if the limits do not allow it. */
  private static int atomicBatch(double globalBatch, int replicas, int passes, BatchLimits limits) {
    int atomic = (int) Math.ceil(globalBatch / replicas / passes - EPSILON);
    boolean allowed =
        (passes == 1 || limits.accumulation())
            && atomic >= limits.minAtomicBatch()
            && atomic <= limits.maxAtomicBatch();
    return allowed ? atomic : 0;
  }
}
