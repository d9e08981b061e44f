package dev.kastor.traces;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.model.GpuTraits;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;

/**
 * Application that is like another one but for the amount of its work: a job of which a trace tells
 * how long it ran on how many GPUs, and somebody assumes how it scales.
 */
public final class ScaledApplication implements Application {
  /** GPUs of a node on which the published size is taken to have run. */
  private static final int GPUS_PER_NODE = 8;

  private final Application like;
  private final double factor;

  private ScaledApplication(Application like, double factor) {
    this.like = like;
    this.factor = factor;
  }

  /**
   * As much work as takes this long on so many replicas with the initial batch, on full nodes of
   * eight GPUs of the first GPU type.
   *
   * @throws IllegalArgumentException if the application cannot run on any number up to that
   */
  public static ScaledApplication lasting(Application like, int replicas, double seconds) {
    String type = like.gpuTypes().getFirst();
    BatchLimits limits = like.batchLimits(type);
    int batch = like.fixedGlobalBatch().orElse(limits.initialGlobalBatch());
    for (int some = Math.min(replicas, like.maxReplicas()); some >= 1; some--) {
      int share = Math.ceilDiv(batch, some);
      int passes = Math.ceilDiv(share, limits.maxAtomicBatch());
      int atomic = Math.max(limits.minAtomicBatch(), Math.ceilDiv(share, passes));
      StepTime step = like.stepTime(type, placed(some), atomic);
      if (step.isKnown()) {
        double whole =
            like.remainingSteps(batch, 0) * step.stepSeconds(passes - 1) * like.slowdown();
        return new ScaledApplication(like, seconds / whole);
      }
    }
    throw new IllegalArgumentException(
        "%s was never measured on %d replicas or fewer".formatted(like.name(), replicas));
  }

  private static int[] placed(int replicas) {
    int[] nodes = new int[Math.ceilDiv(replicas, GPUS_PER_NODE)];
    Arrays.fill(nodes, GPUS_PER_NODE);
    nodes[nodes.length - 1] = replicas - GPUS_PER_NODE * (nodes.length - 1);
    return nodes;
  }

  @Override
  public String name() {
    return like.name();
  }

  @Override
  public List<String> gpuTypes() {
    return like.gpuTypes();
  }

  @Override
  public BatchLimits batchLimits(String gpuType) {
    return like.batchLimits(gpuType);
  }

  @Override
  public GpuTraits traits(String gpuType) {
    return like.traits(gpuType);
  }

  @Override
  public int maxReplicas() {
    return like.maxReplicas();
  }

  @Override
  public int maxAtomicBatch(String gpuType, int[] replicasByNode) {
    return like.maxAtomicBatch(gpuType, replicasByNode);
  }

  @Override
  public int maxAtomicBatch(String gpuType, int replicas) {
    return like.maxAtomicBatch(gpuType, replicas);
  }

  @Override
  public StepTime stepTime(String gpuType, int[] replicasByNode, int atomicBatchSize) {
    return like.stepTime(gpuType, replicasByNode, atomicBatchSize);
  }

  @Override
  public int epochs() {
    return like.epochs();
  }

  @Override
  public double progressAt(int epoch) {
    return factor * like.progressAt(epoch);
  }

  @Override
  public GradientStats gradient(int globalBatch, int finishedEpochs) {
    return like.gradient(globalBatch, finishedEpochs);
  }

  @Override
  public double remainingSteps(int globalBatch, int finishedEpochs) {
    return factor * like.remainingSteps(globalBatch, finishedEpochs);
  }

  @Override
  public OptionalInt fixedGlobalBatch() {
    return like.fixedGlobalBatch();
  }

  @Override
  public double restartSeconds() {
    return like.restartSeconds();
  }

  @Override
  public double believedRestartSeconds() {
    return like.believedRestartSeconds();
  }

  @Override
  public double slowdown() {
    return like.slowdown();
  }
}
