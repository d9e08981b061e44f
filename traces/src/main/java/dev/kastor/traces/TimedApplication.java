package dev.kastor.traces;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.BatchLimits;
import java.util.List;
import java.util.OptionalInt;

/**
 * A job of which a trace tells only how long it ran on how many GPUs: its model, step times and
 * gradients are not known.
 *
 * <p>We take a step to last one second on the published number of replicas, and the job to keep its
 * global batch: on other numbers it takes proportionally longer or shorter, the most that elastic
 * scheduling could bring. Placement and GPU type make no difference. Stateless.
 *
 * @param name what reports call this kind of job
 * @param replicas the published number of GPUs
 * @param durationSeconds how long it ran on them
 */
public record TimedApplication(String name, int replicas, double durationSeconds)
    implements Application {
  /** Examples per replica and step at the published size, so that sizes near it differ in time. */
  private static final int EXAMPLES_PER_REPLICA = 64;

  /** Cost of a checkpoint and a restart; the published simulators of Pollux take the same. */
  private static final double RESTART_SECONDS = 30;

  public TimedApplication {
    if (replicas < 1 || !(durationSeconds > 0)) {
      throw new IllegalArgumentException(
          "replicas (%d) and durationSeconds (%s) of a job must be above 0"
              .formatted(replicas, durationSeconds));
    }
  }

  @Override
  public List<String> gpuTypes() {
    return List.of("");
  }

  @Override
  public BatchLimits batchLimits(String gpuType) {
    return new BatchLimits(globalBatch(), globalBatch(), 1, globalBatch(), false);
  }

  private int globalBatch() {
    return replicas * EXAMPLES_PER_REPLICA;
  }

  @Override
  public int maxReplicas() {
    return globalBatch();
  }

  @Override
  public StepTime stepTime(String gpuType, int[] replicasByNode, int atomicBatchSize) {
    return new StepTime((double) atomicBatchSize / EXAMPLES_PER_REPLICA, 0);
  }

  @Override
  public int epochs() {
    return 1;
  }

  @Override
  public double progressAt(int epoch) {
    return epoch * durationSeconds;
  }

  @Override
  public GradientStats gradient(int globalBatch, int finishedEpochs) {
    // Batch and initial batch are one, so noise plays no part.
    return new GradientStats(1, 0, globalBatch());
  }

  @Override
  public double remainingSteps(int globalBatch, int finishedEpochs) {
    return finishedEpochs == 0 ? durationSeconds : 0;
  }

  @Override
  public OptionalInt fixedGlobalBatch() {
    return OptionalInt.of(globalBatch());
  }

  @Override
  public double restartSeconds() {
    return RESTART_SECONDS;
  }
}
