package dev.kastor.operator.membership;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.JobSpec;
import java.util.Optional;

/** The batch of a generation, and whether a change of the batch alone is worth a generation. */
public final class BetterBatch {
  /** Predicted goodput must grow by this factor: a change costs a short pause. */
  static final double WORTHWHILE = 1.1;

  /** What a replica takes in one pass grows to at most this many times the present size. */
  private static final int GROWTH = 2;

  private BetterBatch() {}

  /**
   * The batch that a new set of members starts with.
   *
   * @param presentGlobal examples per step before; 0 at the start
   */
  public static BatchPlan initial(
      JobSpec spec, Optional<GoodputModel> model, PlacementShape shape, int presentGlobal) {
    return BatchChoice.choose(bounded(spec, GROWTH * (long) presentGlobal), model, shape)
        .or(() -> BatchChoice.choose(spec, model, shape))
        .orElseGet(() -> nearest(spec, shape));
  }

  /** A batch that is enough better than the present one for the same members. */
  public static Optional<BatchPlan> improvement(
      JobSpec spec, Optional<GoodputModel> model, PlacementShape shape, BatchPlan present) {
    if (model.isEmpty() || !model.get().knows(shape.gpuType())) {
      return Optional.empty();
    }
    GoodputModel known = model.get();
    return BatchChoice.choose(bounded(spec, most(shape, present)), model, shape)
        .filter(candidate -> !candidate.equals(present))
        .filter(candidate ->
            known.goodput(shape, candidate) >= WORTHWHILE * known.goodput(shape, present));
  }

  /**
   * The largest batch to go to next: early noise statistics are noisy themselves, and a batch far
   * beyond what was tried rests on them alone. Beyond its initial batch a single replica needs two
   * passes to see its noise ({@link GoodputModel#best}), so that twice the batch would be two
   * passes of the present size, which are never faster: it may go to two of twice the size at once.
   */
  private static long most(PlacementShape shape, BatchPlan present) {
    boolean needsAnotherPass = shape.replicas() == 1 && present.accumulationSteps() == 0;
    long growth = needsAnotherPass ? 2 * GROWTH : GROWTH;
    return growth * present.globalBatchSize(shape.replicas());
  }

  /** The job with batches of at most so many examples; its initial batch is always allowed. */
  private static JobSpec bounded(JobSpec spec, long mostGlobal) {
    BatchLimits limits = spec.batchLimits();
    long most = Math.max(limits.initialGlobalBatch(), mostGlobal);
    if (mostGlobal == 0 || most >= limits.maxGlobalBatch()) {
      return spec;
    }
    return spec.withBatchLimits(limits.withMaxGlobalBatch((int) most));
  }

  /** Where no batch fits the limits exactly, each replica takes what is nearest to the initial. */
  private static BatchPlan nearest(JobSpec spec, PlacementShape shape) {
    BatchLimits limits = spec.batchLimits(shape.gpuType());
    int share = Math.ceilDiv(limits.initialGlobalBatch(), shape.replicas());
    return new BatchPlan(Math.clamp(share, limits.minAtomicBatch(), limits.maxAtomicBatch()), 0);
  }
}
