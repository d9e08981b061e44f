package dev.kastor.scheduler.goodput;

import dev.kastor.protocol.BatchPlan;

/**
 * The seven constants of a job's step time (Pollux, OSDI 2021, section 4.1).
 *
 * <p>Computation of one pass takes {@code alphaCompute + betaCompute * b} seconds for an atomic
 * batch of b examples; synchronisation {@code alpha + beta * max(K - 2, 1e-8)} for K replicas, with
 * the network's constants across nodes and the local ones within a node. The two overlap partly:
 * the step takes their {@code gamma}-norm.
 *
 * @param alphaCompute seconds
 * @param betaCompute seconds per example
 * @param alphaNetwork seconds, replicas on several nodes
 * @param betaNetwork seconds per replica beyond two, several nodes
 * @param alphaLocal seconds, replicas on one node
 * @param betaLocal seconds per replica beyond two, one node
 * @param gamma 1 (no overlap) to 10 (nearly full overlap)
 */
public record ThroughputParams(
    double alphaCompute,
    double betaCompute,
    double alphaNetwork,
    double betaNetwork,
    double alphaLocal,
    double betaLocal,
    double gamma) {
  private static final double TINY = 1e-8;

  /** Seconds of one forward-backward pass over {@code atomicBatchSize} examples. */
  public double computeSeconds(double atomicBatchSize) {
    return alphaCompute + betaCompute * atomicBatchSize;
  }

  /** Seconds of one gradient synchronisation, without overlap. */
  public double syncSeconds(PlacementShape shape) {
    double beyondTwo = Math.max(shape.replicas() - 2, TINY);
    if (shape.nodes() > 1) {
      return alphaNetwork + betaNetwork * beyondTwo;
    }
    return shape.replicas() > 1 ? alphaLocal + betaLocal * beyondTwo : TINY + TINY * beyondTwo;
  }

  /** Seconds of a pass that ends in a synchronisation and an update. */
  public double updateSeconds(PlacementShape shape, double atomicBatchSize) {
    return overlapped(computeSeconds(atomicBatchSize), syncSeconds(shape));
  }

  /** Seconds of a computation and a synchronisation that overlap partly. */
  double overlapped(double compute, double sync) {
    double larger = Math.max(compute, sync);
    // Scaled by the larger term so that powers up to 10 neither under- nor overflow.
    double share = Math.min(compute, sync) / larger;
    return gamma == 1
        ? larger * (1 + share)
        : larger * Math.pow(1 + Math.pow(share, gamma), 1 / gamma);
  }

  /** Seconds of a whole optimizer step. */
  public double stepSeconds(PlacementShape shape, BatchPlan batch) {
    return batch.accumulationSteps() * computeSeconds(batch.atomicBatchSize())
        + updateSeconds(shape, batch.atomicBatchSize());
  }
}
