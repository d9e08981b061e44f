package dev.kastor.scheduler.policy.support;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.Foresight;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Time that jobs of their requested size still have to run.
 *
 * <p>Where there is foresight: true steps left times the true time of a step, where the job runs or
 * else packed tightly on the type that suits it best. Without: declared work left over the fitted
 * goodput. Without a model either, nobody knows, and the job counts as one that has just begun: it
 * is tried. The true pace of a job on an allocation never changes and is remembered. Owned by one
 * policy.
 */
public final class RemainingTime {
  /** What a step takes on an allocation; infinite where the job cannot run. */
  private record Pace(Allocation allocation, int globalBatch, double stepSeconds) {
    double seconds(Foresight truth) {
      return stepSeconds == Double.POSITIVE_INFINITY
          ? stepSeconds
          : truth.remainingSteps(globalBatch) * stepSeconds;
    }
  }

  private final Map<JobId, Pace> paces = new HashMap<>();
  private final Map<String, Integer> perNode = new LinkedHashMap<>();
  private final Map<String, String> types = new HashMap<>();
  private List<Node> nodes = List.of();

  /** Seconds for each job of a snapshot; 0 if nothing is known, infinite where it cannot run. */
  public double[] seconds(Snapshot snapshot) {
    see(snapshot);
    double[] seconds = new double[snapshot.jobs().size()];
    for (int j = 0; j < seconds.length; j++) {
      JobState job = snapshot.jobs().get(j);
      seconds[j] =
          job.foresight().isPresent()
              ? pace(job, job.foresight().get()).seconds(job.foresight().get())
              : guess(job);
    }
    return seconds;
  }

  private void see(Snapshot snapshot) {
    if (!nodes.equals(snapshot.nodes())) {
      nodes = snapshot.nodes();
      paces.clear();
      perNode.clear();
      types.clear();
      for (Node node : nodes) {
        perNode.merge(node.gpuType(), Math.max(1, node.slots()), Math::max);
        types.put(node.name(), node.gpuType());
      }
    }
    if (paces.size() > 2 * snapshot.jobs().size() + 1000) {
      // Mostly jobs that have ended; those that have not are soon known again.
      paces.clear();
    }
  }

  private Pace pace(JobState job, Foresight truth) {
    Pace known = paces.get(job.id());
    if (known != null && known.allocation().equals(job.allocation())) {
      return known;
    }
    Pace best = new Pace(job.allocation(), 0, Double.POSITIVE_INFINITY);
    for (Spot spot : spots(job)) {
      Optional<BatchPlan> batch = BatchChoice.choose(job.spec(), job.model(), spot.shape());
      if (batch.isPresent()) {
        int replicas = spot.shape().replicas();
        Pace here =
            new Pace(
                job.allocation(),
                batch.get().globalBatchSize(replicas),
                truth.stepSeconds(spot.type, spot.counts, batch.get()));
        best = here.seconds(truth) < best.seconds(truth) ? here : best;
      }
    }
    paces.put(job.id(), best);
    return best;
  }

  private double guess(JobState job) {
    double best = Double.POSITIVE_INFINITY;
    for (Spot spot : spots(job)) {
      best = Math.min(best, guess(job, spot.shape()));
    }
    return best;
  }

  private static double guess(JobState job, PlacementShape shape) {
    String type = shape.gpuType();
    Optional<GoodputModel> model = job.model().filter(known -> known.knows(type));
    if (model.isEmpty()) {
      return 0;
    }
    // Goodput counts examples of the initial batch, and work its steps.
    Progress progress = job.reached();
    double left = progress.totalScaleInvariantSteps() - progress.scaleInvariantSteps();
    double goodput = BatchChoice.goodput(job.spec(), model.get(), shape);
    return goodput > 0
        ? Math.max(0, left) * job.spec().batchLimits(type).initialGlobalBatch() / goodput
        : Double.POSITIVE_INFINITY;
  }

  /** Replicas on nodes of one type. */
  private static final class Spot {
    private final String type;
    private final int[] counts;

    Spot(String type, int[] counts) {
      this.type = type;
      this.counts = counts;
    }

    PlacementShape shape() {
      return new PlacementShape(counts.length, Arrays.stream(counts).sum(), type);
    }
  }

  /** Where the job runs, or else one tight packing for each type that it can run on. */
  private List<Spot> spots(JobState job) {
    String here = job.allocation().isEmpty() ? null : types.get(job.allocation().node(0));
    if (here != null) {
      return List.of(new Spot(here, job.allocation().replicaCounts()));
    }
    List<Spot> spots = new ArrayList<>();
    int replicas = Sizes.requested(job.spec());
    perNode.forEach((type, most) -> {
      int each = job.spec().slotsPerReplica(type);
      if (job.spec().runsOn(type) && each <= most) {
        spots.add(new Spot(type, GpuTypes.packed(replicas, most / each)));
      }
    });
    return spots;
  }
}
