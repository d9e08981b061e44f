package dev.kastor.agent.trainer;

import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.engine.train.GradientStage;
import dev.kastor.engine.train.LearningRateRule;
import dev.kastor.plugin.Chosen;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

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
 * @param gradientStages what is done to the mean gradient before the optimizer, in this order
 * @param codec what stands for gradients between replicas; empty for the gradients themselves
 */
public record TrainingSettings(
    int initialBatch,
    double baseLearningRate,
    LearningRateRule learningRateRule,
    Work work,
    long seed,
    Duration checkpointInterval,
    Duration evaluationInterval,
    List<GradientStage> gradientStages,
    Optional<Chosen<GradientCodecPlugin>> codec) {
  public TrainingSettings {
    gradientStages = List.copyOf(gradientStages);
  }

  /** Settings of a job whose gradients are exchanged and taken as they are. */
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
        List.of(),
        Optional.empty());
  }

  /** Tells whether so many replicas exchange codes: one alone has nobody to send one to. */
  boolean isCoded(int replicas) {
    return codec.isPresent() && replicas > 1;
  }
}
