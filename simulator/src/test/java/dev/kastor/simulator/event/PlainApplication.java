package dev.kastor.simulator.event;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import java.util.List;

/**
 * An application with given constants on every GPU type.
 *
 * @param params true step times
 * @param epochs of {@code stepsPerEpoch} each
 * @param noise variance of the gradient relative to its squared norm; 0 makes every step count one
 */
record PlainApplication(
    String name,
    ThroughputParams params,
    BatchLimits limits,
    int epochs,
    double stepsPerEpoch,
    double noise,
    double restartSeconds,
    List<String> gpuTypes)
    implements Application {
  /** Takes 1 s a step on one GPU and 1/n on n; larger batches do not help. */
  static PlainApplication linear(double steps) {
    return new PlainApplication(
        "linear",
        new ThroughputParams(0, 1.0 / 64, 0, 0, 0, 0, 1),
        new BatchLimits(64, 64, 1, 64, true),
        10,
        steps / 10,
        0,
        30,
        List.of(""));
  }

  /** Scales well, and its noise grows so that larger batches pay more and more. */
  static PlainApplication elastic(double steps) {
    return new PlainApplication(
        "elastic",
        new ThroughputParams(0.02, 0.002, 0.02, 0.001, 0.01, 0.0005, 1.5),
        new BatchLimits(64, 4096, 8, 256, true),
        20,
        steps / 20,
        10,
        30,
        List.of(""));
  }

  PlainApplication named(String other) {
    return new PlainApplication(
        other, params, limits, epochs, stepsPerEpoch, noise, restartSeconds, gpuTypes);
  }

  PlainApplication on(List<String> types) {
    return new PlainApplication(
        name, params, limits, epochs, stepsPerEpoch, noise, restartSeconds, types);
  }

  @Override
  public BatchLimits batchLimits(String gpuType) {
    return limits;
  }

  @Override
  public int maxReplicas() {
    return limits.maxGlobalBatch() / limits.minAtomicBatch();
  }

  @Override
  public StepTime stepTime(String gpuType, int[] replicasByNode, int atomicBatchSize) {
    int replicas = 0;
    for (int here : replicasByNode) {
      replicas += here;
    }
    double step =
        params.stepSeconds(
            new PlacementShape(replicasByNode.length, replicas, ""),
            new BatchPlan(atomicBatchSize, 0));
    return new StepTime(step, Math.max(0, step - params.computeSeconds(atomicBatchSize)));
  }

  @Override
  public double progressAt(int epoch) {
    return epoch * stepsPerEpoch;
  }

  @Override
  public GradientStats gradient(int globalBatch, int finishedEpochs) {
    return new GradientStats(1, noise * (1 + finishedEpochs), limits.initialGlobalBatch());
  }

  @Override
  public double remainingSteps(int globalBatch, int finishedEpochs) {
    double steps = 0;
    for (int e = finishedEpochs; e < epochs; e++) {
      steps += stepsPerEpoch / gradient(globalBatch, e).gain(globalBatch);
    }
    return steps;
  }
}
