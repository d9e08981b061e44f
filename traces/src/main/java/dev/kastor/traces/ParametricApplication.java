package dev.kastor.traces;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.goodput.ThroughputParams;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * An application whose truth is a formula: the seven throughput constants of each GPU type (Pollux,
 * OSDI 2021, section 4.1) and a curve of the gradient noise scale over its progress.
 *
 * <p>Epochs are equal shares of the work. A placement is known by its nodes and replicas alone, and
 * at any number of them. Where the file tells no GPU types apart, all are alike; a cluster that
 * names no types is of the first one listed.
 *
 * @param name unique in its file
 * @param byGpuType what differs by GPU type, not empty
 * @param totalSteps the work in steps of the initial batch
 * @param epochs shares of the work, within which the noise does not change
 * @param noise gradient noise scale over the share of the work done
 * @param restartSeconds cost of a start or of another allocation
 * @param maxReplicas most replicas it is run with
 */
public record ParametricApplication(
    String name,
    SequencedMap<String, OnGpu> byGpuType,
    double totalSteps,
    int epochs,
    NoiseCurve noise,
    double restartSeconds,
    int maxReplicas)
    implements Application {
  /** Step times and batches on one GPU type. */
  public record OnGpu(ThroughputParams throughput, BatchLimits limits) {}

  public ParametricApplication {
    byGpuType = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(byGpuType));
    if (byGpuType.isEmpty()) {
      throw new IllegalArgumentException("application %s has no GPU type".formatted(name));
    }
    if (byGpuType.values().stream().map(gpu -> gpu.limits().initialGlobalBatch()).distinct().count()
        > 1) {
      throw new IllegalArgumentException(
          "application %s has several initial batches; its work is counted in steps of one"
              .formatted(name));
    }
    if (!(totalSteps > 0) || epochs < 1 || !(restartSeconds >= 0) || maxReplicas < 1) {
      throw new IllegalArgumentException(
          "application %s: totalSteps (%s), epochs (%d) and maxReplicas (%d) must be positive, restartSeconds (%s) not negative"
              .formatted(name, totalSteps, epochs, maxReplicas, restartSeconds));
    }
  }

  /** What holds on a GPU type. */
  public OnGpu on(String gpuType) {
    OnGpu exact = byGpuType.get(gpuType);
    if (exact != null) {
      return exact;
    }
    if (gpuType.isEmpty() || byGpuType.containsKey("")) {
      return byGpuType.firstEntry().getValue();
    }
    throw new IllegalArgumentException(
        "application %s does not run on GPU type %s. It has: %s"
            .formatted(name, gpuType, String.join(", ", byGpuType.keySet())));
  }

  @Override
  public List<String> gpuTypes() {
    return List.copyOf(byGpuType.keySet());
  }

  @Override
  public BatchLimits batchLimits(String gpuType) {
    return on(gpuType).limits();
  }

  @Override
  public StepTime stepTime(String gpuType, int[] replicasByNode, int atomicBatchSize) {
    OnGpu gpu = on(gpuType);
    int replicas = 0;
    for (int here : replicasByNode) {
      replicas += here;
    }
    if (replicas < 1
        || atomicBatchSize < gpu.limits().minAtomicBatch()
        || atomicBatchSize > gpu.limits().maxAtomicBatch()) {
      return StepTime.UNKNOWN;
    }
    PlacementShape shape = new PlacementShape(replicasByNode.length, replicas, gpuType);
    double step = gpu.throughput().updateSeconds(shape, atomicBatchSize);
    return new StepTime(step, step - gpu.throughput().computeSeconds(atomicBatchSize));
  }

  @Override
  public double progressAt(int epoch) {
    return totalSteps * epoch / epochs;
  }

  @Override
  public GradientStats gradient(int globalBatch, int finishedEpochs) {
    return noise.stats((double) finishedEpochs / epochs, initialBatch());
  }

  @Override
  public double remainingSteps(int globalBatch, int finishedEpochs) {
    double steps = 0;
    for (int epoch = finishedEpochs; epoch < epochs; epoch++) {
      steps += totalSteps / epochs / gradient(globalBatch, epoch).gain(globalBatch);
    }
    return steps;
  }

  private int initialBatch() {
    return byGpuType.firstEntry().getValue().limits().initialGlobalBatch();
  }
}
