package dev.kastor.agent.trainer;

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
 */
public record TrainingSettings(
    int initialBatch,
    double baseLearningRate,
    LearningRateRule learningRateRule,
    Work work,
    long seed,
    Duration checkpointInterval,
    Duration evaluationInterval) {}
