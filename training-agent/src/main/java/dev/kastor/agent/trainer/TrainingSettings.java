package dev.kastor.agent.trainer;

import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.train.LearningRateRule;
import java.time.Duration;

/**
 * What the job's spec says about training.
 *
 * @param initialBatch M0 in examples, at least 1
 * @param baseLearningRate learning rate at the initial batch, above 0
 * @param learningRateRule how it follows the batch
 * @param work when the job is done
 * @param seed of the order of examples
 * @param checkpointInterval time between checkpoints
 * @param evaluationInterval least time of training between evaluations on held-out data
 * @param method features of training that the job uses
 */
public record TrainingSettings(
    int initialBatch,
    double baseLearningRate,
    LearningRateRule learningRateRule,
    Work work,
    long seed,
    Duration checkpointInterval,
    Duration evaluationInterval,
    TrainingMethod method) {
  /** Settings of a job that uses no feature. */
  public TrainingSettings(
      int initialBatch,
      double baseLearningRate,
      LearningRateRule learningRateRule,
      Work work,
      long seed,
      Duration checkpointInterval,
      Duration evaluationInterval) {
    this(
        initialBatch,
        baseLearningRate,
        learningRateRule,
        work,
        seed,
        checkpointInterval,
        evaluationInterval,
        TrainingMethod.USUAL);
  }

  /** Tells whether so many replicas exchange codes: one alone has nobody to send one to. */
  boolean isCoded(int replicas) {
    return method.codec().isPresent() && replicas > 1;
  }
}
