package dev.kastor.scheduler.model;

import dev.kastor.protocol.BatchPlan;

/**
 * The truth about a job, which only a simulator has: for bounds and for published policies that are
 * given an oracle. A policy for real clusters works without.
 */
public interface Foresight {
  /**
   * Seconds of one optimizer step; infinite where the job cannot run so.
   *
   * @param gpuType type of all the nodes
   * @param replicasByNode replicas on each used node, in order
   * @param batch batch of each replica
   */
  double stepSeconds(String gpuType, int[] replicasByNode, BatchPlan batch);

  /** Optimizer steps left until the work is done, were all of them taken at this global batch. */
  double remainingSteps(int globalBatch);
}
