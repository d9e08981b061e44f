package dev.kastor.engine.program;

import dev.kastor.engine.optim.LearningRateRules;
import dev.kastor.engine.train.AuditDigest;
import dev.kastor.engine.train.ElasticSampler;
import dev.kastor.engine.train.LearningRateRule;
import dev.kastor.engine.train.NoiseScaleEstimator;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Trainable;
import dev.kastor.engine.train.Update;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/** Trains a program in one thread, playing all replicas of each step one after the other. */
final class TrainingRun implements AutoCloseable {
  private final Trainable trainable;
  private final Optimizer optimizer;
  private final ElasticSampler sampler;
  private final NoiseScaleEstimator noise;
  private final LearningRateRule rule;
  private final int initialBatch;
  private final double learningRate;
  private final SequencedMap<String, float[]> slots;
  private final float[] gradient;
  private final float[] sum;
  private final float[] batchStatistics;
  private final float[] statisticsSum;

  private long step;
  private double progress;
  private long cursor;
  private AuditDigest audit = AuditDigest.EMPTY;
  private double meanLoss;

  TrainingRun(
      Program program,
      Map<String, String> parameters,
      int initialBatch,
      double learningRate,
      String scaling)
      throws ProgramException {
    this.trainable = program.load(parameters);
    this.optimizer = program.optimizer(parameters);
    this.sampler = new ElasticSampler(trainable.trainingExamples(), 1);
    this.noise = new NoiseScaleEstimator(initialBatch, NoiseScaleEstimator.DEFAULT_SMOOTHING);
    this.rule = LearningRateRules.BUILT_IN.get(scaling);
    this.initialBatch = initialBatch;
    this.learningRate = learningRate;
    int parameterCount = trainable.parameters().length;
    this.slots = optimizer.newSlots(trainable.layout());
    this.gradient = new float[parameterCount];
    this.sum = new float[parameterCount];
    this.batchStatistics = new float[trainable.statistics().length];
    this.statisticsSum = new float[trainable.statistics().length];
  }

  /** Trains until so many scale-invariant steps are done in all. */
  void trainTo(double scaleInvariantSteps, int replicas, BatchPlan plan) {
    while (progress < scaleInvariantSteps) {
      oneStep(replicas, plan);
    }
  }

  private void oneStep(int replicas, BatchPlan plan) {
    int groups = replicas * (plan.accumulationSteps() + 1);
    int globalBatch = plan.globalBatchSize(replicas);
    Arrays.fill(sum, 0);
    Arrays.fill(statisticsSum, 0);
    double meanGroupSquaredNorm = 0;
    double loss = 0;
    for (int rank = 0; rank < replicas; rank++) {
      for (int pass = 0; pass <= plan.accumulationSteps(); pass++) {
        ElasticSampler.Take take = sampler.take(cursor, plan, replicas, rank, pass);
        loss += trainable.pass(take.examples(), gradient, batchStatistics) / groups;
        audit = audit.plus(AuditDigest.of(take));
        meanGroupSquaredNorm += squaredNorm(gradient) / groups;
        addMean(gradient, groups, sum);
        addMean(batchStatistics, groups, statisticsSum);
      }
    }
    if (groups == 1) {
      noise.observeSingle(sum, globalBatch);
    } else {
      noise.observe(groups, meanGroupSquaredNorm, squaredNorm(sum), globalBatch);
    }
    double scale = (double) globalBatch / initialBatch;
    Optional<GradientStats> stats = noise.stats();
    double rate = learningRate * rule.factor(scale, stats);
    optimizer.apply(new Update(trainable.layout(), trainable.parameters(), sum, slots, rate, step));
    trainable.applyStatistics(statisticsSum);
    meanLoss += (loss - meanLoss) * Math.max(0.02, 1.0 / (step + 1));
    step++;
    cursor += globalBatch;
    progress += stats.map(s -> s.gain(globalBatch)).orElse(1.0);
  }

  static double squaredNorm(float[] values) {
    double total = 0;
    for (float value : values) {
      total += (double) value * value;
    }
    return total;
  }

  static void addMean(float[] values, int groups, float[] target) {
    for (int i = 0; i < target.length; i++) {
      target[i] += values[i] / groups;
    }
  }

  double evaluate() {
    return trainable.evaluate().value();
  }

  double meanLoss() {
    return meanLoss;
  }

  long step() {
    return step;
  }

  long lostOrRepeated() {
    return audit.lostOrRepeated(sampler.expected(cursor));
  }

  double noiseScale() {
    return noise.stats().map(GradientStats::noiseScale).orElse(Double.NaN);
  }

  Trainable trainable() {
    return trainable;
  }

  @Override
  public void close() {
    trainable.close();
  }
}
