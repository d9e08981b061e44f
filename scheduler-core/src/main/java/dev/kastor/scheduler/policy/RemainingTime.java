package dev.kastor.scheduler.policy;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.BatchChoice;
import dev.kastor.scheduler.Foresight;
import dev.kastor.scheduler.JobSpec;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.Node;
import dev.kastor.scheduler.PlacementShape;
import dev.kastor.scheduler.goodput.GoodputModel;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How long a job of its requested size still has to run.
 *
 * <p>Where there is foresight: true steps left times the true time of a step, where the job runs or
 * else packed tightly on the type that suits it best. Without: declared work left over the fitted
 * goodput. Without a model either, nobody knows, and the job counts as one that has just begun: it
 * is tried. Owned by one planning call.
 */
final class RemainingTime {
  private final Map<String, Integer> perNode = new LinkedHashMap<>();
  private final Map<String, String> types = new HashMap<>();

  RemainingTime(List<Node> nodes) {
    for (Node node : nodes) {
      perNode.merge(node.gpuType(), Math.max(1, node.slots()), Math::max);
      types.put(node.name(), node.gpuType());
    }
  }

  /** Seconds; 0 if nothing is known, infinite where the job cannot run. */
  double seconds(JobState job) {
    int replicas = Sizes.requested(job.spec());
    if (!job.allocation().isEmpty()) {
      String type = types.get(job.allocation().node(0));
      if (type != null) {
        return seconds(job, type, job.allocation().counts());
      }
    }
    double best = Double.POSITIVE_INFINITY;
    for (Map.Entry<String, Integer> type : perNode.entrySet()) {
      if (job.spec().runsOn(type.getKey())) {
        int slots = replicas * job.spec().gpusPerReplica(type.getKey());
        best = Math.min(best, seconds(job, type.getKey(), packed(slots, type.getValue())));
      }
    }
    return best;
  }

  private static double seconds(JobState job, String type, int[] counts) {
    JobSpec spec = job.spec();
    int slots = Arrays.stream(counts).sum();
    PlacementShape shape =
        new PlacementShape(counts.length, slots / spec.gpusPerReplica(type), type);
    Optional<Foresight> truth = job.foresight();
    if (truth.isPresent()) {
      Optional<BatchPlan> batch = BatchChoice.choose(spec, job.model(), shape);
      return batch
          .map(plan ->
              truth.get().remainingSteps(plan.globalBatchSize(shape.replicas()))
                  * truth.get().stepSeconds(type, counts, plan))
          .orElse(Double.POSITIVE_INFINITY);
    }
    Optional<GoodputModel> model = job.model().filter(known -> known.knows(type));
    if (model.isEmpty() || job.progress().isEmpty()) {
      return 0;
    }
    // Goodput counts examples of the initial batch, and work its steps.
    double left =
        job.progress().get().totalScaleInvariantSteps()
            - job.progress().get().scaleInvariantSteps();
    double goodput = BatchChoice.goodput(spec, model.get(), shape);
    return goodput > 0
        ? Math.max(0, left) * spec.batchLimits(type).initialGlobalBatch() / goodput
        : Double.POSITIVE_INFINITY;
  }

  private static int[] packed(int slots, int perNode) {
    int[] counts = new int[Math.ceilDiv(slots, perNode)];
    Arrays.fill(counts, perNode);
    counts[counts.length - 1] = slots - perNode * (counts.length - 1);
    return counts;
  }
}
