package dev.kastor.simulator.tick;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.BestBatch;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.traces.Application;
import java.util.Optional;

/**
 * The batch of a job in Sia's simulator (SOSP 2023, artifact): by goodput where the job may choose
 * and knows its GPUs, else as it was submitted; never beyond what was measured of the placement.
 */
final class SiaBatch {
  private static final double EPSILON = 1e-8;

  private SiaBatch() {}

  static BatchPlan choose(
      JobSpec spec,
      Application application,
      Optional<GoodputModel> model,
      Placement placement,
      BatchLimits limits,
      String modelledType) {
    int replicas = placement.replicas();
    int largest =
        Math.min(
            limits.maxAtomicBatch(),
            application.maxAtomicBatch(placement.gpuType(), placement.replicasByNode()));
    boolean tuned = spec.elasticity() instanceof Elasticity.Adaptive;
    BatchPlan plan = null;
    if (tuned && model.isPresent() && model.get().knows(modelledType)) {
      plan =
          model
              .get()
              .best(placement.shape(modelledType), limits.withMaxAtomicBatch(largest))
              .map(BestBatch::plan)
              .orElse(null);
    }
    if (plan == null) {
      int global =
          tuned
              ? Math.max(limits.initialGlobalBatch(), limits.minAtomicBatch() * replicas)
              : limits.targetGlobalBatch();
      plan = split(global, replicas, largest, limits);
    }
    return withinMeasured(plan, application, placement, limits);
  }

  /** Splits a given global batch over the replicas and as few passes as hold it. */
  static BatchPlan split(int globalBatch, int replicas, int largestAtomic, BatchLimits limits) {
    int local = (int) Math.ceil((double) globalBatch / replicas - EPSILON);
    int accumulation = (int) Math.ceil((double) local / largestAtomic - EPSILON) - 1;
    if (replicas == 1 && globalBatch > limits.initialGlobalBatch()) {
      accumulation = Math.max(accumulation, 1);
    }
    int atomic = (int) Math.ceil((double) local / (accumulation + 1) - EPSILON);
    return new BatchPlan(atomic, accumulation);
  }

  private static BatchPlan withinMeasured(
      BatchPlan plan, Application application, Placement placement, BatchLimits limits) {
    int passes = plan.accumulationSteps() + 1;
    int atomic =
        Math.min(
            plan.atomicBatchSize(),
            application.maxAtomicBatch(placement.gpuType(), placement.slots()));
    atomic = Math.min(atomic, limits.maxGlobalBatch() / (placement.replicas() * passes));
    return new BatchPlan(atomic, plan.accumulationSteps());
  }
}
