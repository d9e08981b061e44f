package dev.kastor.scheduler.model;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.BestBatch;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import java.util.Optional;

/**
 * The batch a job runs with on a placement: the one rule that operator, simulator and policies
 * share (Pollux, OSDI 2021, section 4.1).
 */
public final class BatchChoice {
  private BatchChoice() {}

  /**
   * Adaptive jobs with a model of this GPU type take the batch of highest goodput; all others stay
   * as near to their target batch as the replicas allow. Empty where no batch within the limits
   * fits.
   */
  public static Optional<BatchPlan> choose(
      JobSpec spec, Optional<GoodputModel> model, PlacementShape shape) {
    return choose(spec, model, shape, spec.batchLimits(shape.gpuType()));
  }

  /** The same within other limits than the job's own. */
  public static Optional<BatchPlan> choose(
      JobSpec spec, Optional<GoodputModel> model, PlacementShape shape, BatchLimits limits) {
    if (spec.elasticity() instanceof Elasticity.Adaptive
        && model.isPresent()
        && model.get().knows(shape.gpuType())) {
      return model
          .get()
          .best(shape, limits)
          .map(BestBatch::plan)
          .map(plan -> withinMaximum(plan, shape, limits));
    }
    return atTarget(spec, shape, limits);
  }

  /** Predicted effective examples per second of that batch; 0 where none fits. */
  public static double goodput(JobSpec spec, GoodputModel model, PlacementShape shape) {
    BatchLimits limits = spec.batchLimits(shape.gpuType());
    if (spec.elasticity() instanceof Elasticity.Adaptive) {
      return model.best(shape, limits).map(BestBatch::goodput).orElse(0.0);
    }
    return atTarget(spec, shape, limits).map(plan -> model.goodput(shape, plan)).orElse(0.0);
  }

  /** Most replicas that the limits can feed. */
  public static int maxReplicas(JobSpec spec) {
    BatchLimits limits = spec.batchLimits();
    int largest =
        spec.elasticity() instanceof Elasticity.Adaptive
            ? limits.maxGlobalBatch()
            : Math.max(limits.targetGlobalBatch(), limits.minAtomicBatch());
    return Math.max(1, largest / limits.minAtomicBatch());
  }

  private static Optional<BatchPlan> atTarget(
      JobSpec spec, PlacementShape shape, BatchLimits limits) {
    // A job that will choose its batch later must not begin with more than it was tuned for.
    int wanted =
        spec.elasticity() instanceof Elasticity.Adaptive
            ? limits.initialGlobalBatch()
            : limits.targetGlobalBatch();
    double target = Math.max(wanted, (double) limits.minAtomicBatch() * shape.replicas());
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
