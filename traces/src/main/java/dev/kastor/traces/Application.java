package dev.kastor.traces;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.model.GpuTraits;
import java.util.List;
import java.util.OptionalInt;

/**
 * The truth about jobs of one kind: their step times, their gradient noise and their work, measured
 * or modelled. Immutable to its users.
 *
 * <p>Progress counts in steps of the initial batch M0, whatever batch is used; work is divided into
 * epochs, within which the gradient noise does not change.
 */
public interface Application {
  /** Its name, by which workloads refer to it. */
  String name();

  /** GPU types it was measured on, in a stable order; the empty type alone if all are alike. */
  List<String> gpuTypes();

  /** The batches it may use on a GPU type. */
  BatchLimits batchLimits(String gpuType);

  /** All that differs by GPU type for one that {@link #gpuTypes()} lists. */
  default GpuTraits traits(String gpuType) {
    return new GpuTraits(batchLimits(gpuType), 1, 0);
  }

  /** Most replicas that it was ever run with. */
  int maxReplicas();

  /** Largest atomic batch that was measured of a placement, or that the GPU type allows. */
  default int maxAtomicBatch(String gpuType, int[] replicasByNode) {
    return batchLimits(gpuType).maxAtomicBatch();
  }

  /** The same of all placements of so many replicas, as far as they were measured one by one. */
  default int maxAtomicBatch(String gpuType, int replicas) {
    return batchLimits(gpuType).maxAtomicBatch();
  }

  /**
   * Step time of a placement; {@link StepTime#UNKNOWN} outside of what was measured.
   *
   * @param gpuType type of all the nodes
   * @param replicasByNode replicas on each used node, in order, of as many GPUs as {@link #traits}
   *     says
   * @param atomicBatchSize examples per replica and pass
   */
  StepTime stepTime(String gpuType, int[] replicasByNode, int atomicBatchSize);

  /** Epochs until its work is done. */
  int epochs();

  /** Progress at the end of {@code epoch} epochs, from 0 to {@link #epochs()}; 0 for 0. */
  double progressAt(int epoch);

  /** Gradient statistics while the epoch after {@code finishedEpochs} runs at a global batch. */
  GradientStats gradient(int globalBatch, int finishedEpochs);

  /** Optimizer steps from the end of {@code finishedEpochs} epochs to the end of the work. */
  double remainingSteps(int globalBatch, int finishedEpochs);

  /** The global batch that its publishers always gave it; empty where it may be chosen. */
  default OptionalInt fixedGlobalBatch() {
    return OptionalInt.empty();
  }

  /** Seconds that a start or a change of allocation costs. */
  double restartSeconds();

  /** What policies are told that it costs. */
  default double believedRestartSeconds() {
    return restartSeconds();
  }

  /** True goodput is what the measured step times give, divided by this. */
  default double slowdown() {
    return 1;
  }
}
