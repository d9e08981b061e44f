package dev.kastor.scheduler.policy.support;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import java.util.List;

/** Speed of jobs of given size and given global batch on a GPU type. */
public final class GivenBatch {
  private static final double UNSUITED = 0.1;
  private static final double EPSILON = 1e-8;

  private GivenBatch() {}

  /**
   * Steps per second on as few nodes as possible: measured where a simulator tells, else as the
   * job's model says, else in proportion to what one replica reached in a profiling run. Where the
   * job does not fit, the small number that Sia's artifact takes.
   */
  public static double stepsPerSecond(JobState job, String type, List<Node> nodes) {
    int replicas = Sizes.requested(job.spec());
    int perNode = GpuTypes.largest(nodes) / job.spec().slotsPerReplica(type);
    if (!job.spec().runsOn(type)
        || perNode == 0
        || Math.ceilDiv(replicas, perNode) > nodes.size()) {
      return UNSUITED;
    }
    int[] counts = GpuTypes.packed(replicas, perNode);
    BatchLimits limits = job.spec().batchLimits(type);
    if (job.foresight().isPresent()) {
      BatchPlan least = plan(replicas, limits, 0);
      for (int passes = least.accumulationSteps();
          passes <= least.accumulationSteps() + 64;
          passes++) {
        BatchPlan plan = plan(replicas, limits, passes);
        double seconds = job.foresight().get().stepSeconds(type, counts, plan);
        if (Double.isFinite(seconds)) {
          return 1 / seconds;
        }
      }
      return UNSUITED;
    }
    BatchPlan plan = plan(replicas, limits, 0);
    if (job.model().isPresent() && job.model().get().knows(type)) {
      PlacementShape shape = new PlacementShape(counts.length, replicas, type);
      return 1 / job.model().get().stepSeconds(shape, plan);
    }
    GpuTraits traits = job.spec().byGpuType().get(type);
    double reference = traits == null ? 0 : traits.referenceSpeed();
    return reference > 0 ? reference * replicas / limits.targetGlobalBatch() : 1;
  }

  /** The target batch over the replicas in at least so many passes that it fits the GPUs. */
  private static BatchPlan plan(int replicas, BatchLimits limits, int leastAccumulation) {
    int local = Math.ceilDiv(limits.targetGlobalBatch(), replicas);
    int accumulation = (int) Math.ceil((double) local / limits.maxAtomicBatch() - EPSILON) - 1;
    if (replicas == 1 && limits.accumulation()) {
      accumulation = Math.max(accumulation, 1);
    }
    accumulation = Math.max(accumulation, leastAccumulation);
    return new BatchPlan(
        (int) Math.ceil((double) local / (accumulation + 1) - EPSILON), accumulation);
  }
}
