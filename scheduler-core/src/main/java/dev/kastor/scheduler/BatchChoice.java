package dev.kastor.scheduler;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.BestBatch;
import dev.kastor.scheduler.goodput.GoodputModel;
import java.util.Optional;

/**
 * The batch a job runs with on a placement: the one rule that operator, simulator and policies
 * share (Pollux, OSDI 2021, section 4.1).
 */
public final class BatchChoice {
  private BatchChoice() {}

  /**
   * Adaptive jobs with a model take the batch of highest goodput; all others stay as near to the
   * initial global batch as the replicas allow. Empty where no batch within the limits fits.
   */
  public static Optional<BatchPlan> choose(
      JobSpec spec, Optional<GoodputModel> model, PlacementShape shape) {
    if (spec.elasticity() instanceof Elasticity.Adaptive && model.isPresent()) {
      return model
          .get()
          .best(shape, spec.batchLimits())
          .map(BestBatch::plan)
          .map(plan -> withinMaximum(plan, shape, spec.batchLimits()));
    }
    return atInitialBatch(shape, spec.batchLimits());
  }

  /** Predicted effective examples per second of that batch; 0 where none fits. */
  public static double goodput(JobSpec spec, GoodputModel model, PlacementShape shape) {
    if (spec.elasticity() instanceof Elasticity.Adaptive) {
      return model.best(shape, spec.batchLimits()).map(BestBatch::goodput).orElse(0.0);
    }
    return atInitialBatch(shape, spec.batchLimits())
        .map(plan -> model.goodput(shape, plan))
        .orElse(0.0);
  }

  /** Most replicas that the limits can feed. */
  public static int maxReplicas(JobSpec spec) {
    BatchLimits limits = spec.batchLimits();
    int largest =
        spec.elasticity() instanceof Elasticity.Adaptive
            ? limits.maxGlobalBatch()
            : Math.max(limits.initialGlobalBatch(), limits.minAtomicBatch());
    return Math.max(1, largest / limits.minAtomicBatch());
  }

  private static Optional<BatchPlan> atInitialBatch(PlacementShape shape, BatchLimits limits) {
    double target =
        Math.max(limits.initialGlobalBatch(), (double) limits.minAtomicBatch() * shape.replicas());
    if (target > limits.maxGlobalBatch()) {
      return Optional.empty();
    }
    return GoodputModel.split(target, shape.replicas(), limits)
        .map(plan -> withinMaximum(plan, shape, limits));
  }

  /** Rounding up to whole examples may exceed the maximum by a few: those are taken off again. */
  private static BatchPlan withinMaximum(BatchPlan plan, PlacementShape shape, BatchLimits limits) {
    int perPass = limits.maxGlobalBatch() / (shape.replicas() * (plan.accumulationSteps() + 1));
    return new BatchPlan(
        Math.max(1, Math.min(plan.atomicBatchSize(), perPass)), plan.accumulationSteps());
  }
}
