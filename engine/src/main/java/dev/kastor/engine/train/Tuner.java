package dev.kastor.engine.train;

import dev.kastor.protocol.Progress;
import java.util.List;

/**
 * Change of the learning rate while a job trains: from the steps that were applied it derives a
 * factor for those that follow.
 *
 * <p>All replicas have one each, and all must come to the same bits: from its state and what it is
 * told of steps alone, with no clock, no randomness and no order of a hash table. Its state changes
 * in {@link #applied} alone, which is called once for a step, at its end, so that a step that is
 * taken again has the same factor. A round of local steps ({@link SyncPolicy}) is one step to it.
 * One thread uses it.
 */
public interface Tuner {
  /**
   * Sections of its state, always the same ones: live arrays, which a restore overwrites. They are
   * in checkpoints and are handed to replicas that join.
   */
  List<Section> state();

  /**
   * The factor for the learning rate of the next step: finite and above 0, given by the state
   * alone, as that is all that a replica has which joins.
   */
  double factor();

  /**
   * Takes a step into account.
   *
   * @param step which was applied on all replicas
   */
  void applied(AppliedStep step);

  /**
   * Step that was applied, the same on all replicas.
   *
   * @param progress of the job, this step included
   * @param globalBatchSize examples of it
   * @param batchScale these over the initial batch
   * @param loss mean loss over them, which may be no number
   * @param learningRate that it had: the base rate times the factors of rule and tuner
   */
  record AppliedStep(
      Progress progress,
      int globalBatchSize,
      double batchScale,
      double loss,
      double learningRate) {}
}
