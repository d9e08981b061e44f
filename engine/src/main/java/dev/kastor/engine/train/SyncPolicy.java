package dev.kastor.engine.train;

import dev.kastor.protocol.Progress;
import java.util.List;

/**
 * Policy of when replicas exchange what they learned: after how many steps that each takes by
 * itself.
 *
 * <p>A round is so many local steps of each replica from the same parameters on, and one exchange
 * after which all have the mean of what they came to. All replicas have a policy each, and all must
 * come to the same bits: from its state and what it is told of rounds alone, with no clock, no
 * randomness and no number of replicas. Its state changes in {@link #applied} alone, so that a
 * round that is taken again, as a replica died, has as many steps. One thread uses it.
 */
public interface SyncPolicy {
  /** Most local steps of a round. */
  int MOST_STEPS = 1000;

  /**
   * Sections of its state, always the same ones: live arrays, which a restore overwrites. They are
   * in checkpoints and are handed to replicas that join.
   */
  List<Section> state();

  /**
   * Local steps of the next round, from 1 to {@link #MOST_STEPS}, given by the state alone, as that
   * is all that a replica has which joins. The last round of a job may have fewer.
   */
  int period();

  /**
   * Takes a round into account.
   *
   * @param round which was applied on all replicas
   */
  void applied(AppliedRound round);

  /**
   * Round that was applied, the same on all replicas. A step of a replica that trains alone is a
   * round of one step.
   *
   * @param progress of the job, this round included
   * @param steps that it had
   * @param examples that all replicas trained in it
   * @param loss mean loss over these, which may be no number
   * @param learningRate that all its steps had
   */
  record AppliedRound(
      Progress progress, int steps, long examples, double loss, double learningRate) {}
}
