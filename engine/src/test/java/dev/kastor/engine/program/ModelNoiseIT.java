package dev.kastor.engine.program;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.train.ElasticSampler;
import dev.kastor.engine.train.NoiseScaleEstimator;
import dev.kastor.engine.train.Trainable;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import java.util.Map;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** Holds the estimator against the exact noise of a real network whose parameters stand still. */
class ModelNoiseIT {
  private static final int EXAMPLES = 2000;
  private static final int INITIAL_BATCH = 20;

  @Test
  void findsTheExactNoiseForOneAndManyReplicas() throws Exception {
    Map<String, String> small = Map.of("hidden", "16", "trainingExamples", "" + EXAMPLES);
    try (Trainable trainable = Programs.get("glyph-mlp").load(small)) {
      GradientStats exact = exact(trainable);
      for (int replicas : new int[] {1, 2, 8}) {
        GradientStats estimate = estimate(trainable, replicas);

        assertThat(estimate.squaredNorm())
            .as("squared norm, %d replicas", replicas)
            .isCloseTo(exact.squaredNorm(), Percentage.withPercentage(10));
        assertThat(estimate.variance())
            .as("variance, %d replicas", replicas)
            .isCloseTo(exact.variance(), Percentage.withPercentage(10));
      }
    }
  }

  /** From the gradient of every single example. */
  private static GradientStats exact(Trainable trainable) {
    float[] gradient = new float[trainable.parameters().length];
    double[] mean = new double[gradient.length];
    double meanSquaredNorm = 0;
    for (int i = 0; i < EXAMPLES; i++) {
      trainable.pass(new int[] {i}, gradient, new float[0]);
      for (int j = 0; j < gradient.length; j++) {
        mean[j] += (double) gradient[j] / EXAMPLES;
        meanSquaredNorm += (double) gradient[j] * gradient[j] / EXAMPLES;
      }
    }
    double squaredNorm = 0;
    for (double value : mean) {
      squaredNorm += value * value;
    }
    return new GradientStats(
        squaredNorm, (meanSquaredNorm - squaredNorm) / INITIAL_BATCH, INITIAL_BATCH);
  }

  private static GradientStats estimate(Trainable trainable, int replicas) {
    NoiseScaleEstimator estimator = new NoiseScaleEstimator(INITIAL_BATCH, 0.99999);
    ElasticSampler sampler = new ElasticSampler(EXAMPLES, 5);
    BatchPlan plan = new BatchPlan(10, 0);
    float[] gradient = new float[trainable.parameters().length];
    int globalBatch = plan.globalBatchSize(replicas);
    for (long cursor = 0; cursor < 20L * EXAMPLES; cursor += globalBatch) {
      float[] mean = new float[gradient.length];
      double meanGroupSquaredNorm = 0;
      for (int rank = 0; rank < replicas; rank++) {
        trainable.pass(
            sampler.take(cursor, plan, replicas, rank, 0).examples(), gradient, new float[0]);
        meanGroupSquaredNorm += TrainingRun.squaredNorm(gradient) / replicas;
        TrainingRun.addMean(gradient, replicas, mean);
      }
      if (replicas == 1) {
        estimator.observeSingle(mean, globalBatch);
      } else {
        estimator.observe(
            replicas, meanGroupSquaredNorm, TrainingRun.squaredNorm(mean), globalBatch);
      }
    }
    return estimator.stats().orElseThrow();
  }
}
