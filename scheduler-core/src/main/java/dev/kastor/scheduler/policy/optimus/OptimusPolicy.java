package dev.kastor.scheduler.policy.optimus;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Foresight;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.scheduler.policy.support.BlindType;
import dev.kastor.scheduler.policy.support.FreestNodes;
import dev.kastor.scheduler.policy.support.GpuTypes;
import dev.kastor.scheduler.policy.support.NodeSlots;
import dev.kastor.scheduler.policy.support.Sizes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * Optimus (EuroSys 2018, section 4.1): a GPU at a time to the job whose remaining time it shortens
 * most, with the global batch left as it is, as Pollux's artifact (OSDI 2021, section 5) runs it.
 *
 * <p>Remaining time is steps left times the step time of a tightly packed placement: both true
 * where the job has {@link Foresight} (the artifact's "Optimus+Oracle"), else from its fitted model
 * and its declared work. Changes are thought to cost nothing, so there are many.
 */
public final class OptimusPolicy implements Policy {
  /** Plug-in of this policy. */
  public static final PolicyPlugin PLUGIN =
      PolicyPlugin.of(
          "optimus",
          "One GPU at a time to the job whose remaining time it shortens most (EuroSys " + "2018).",
          PolicyTraits.of(Control.SIZE),
          List.of(),
          (context, options) -> new OptimusPolicy());

  private static final double EPSILON = 1e-8;

  @Override
  public Plan plan(Snapshot snapshot) {
    List<JobState> jobs = snapshot.jobs().stream().filter(job -> !job.pinned()).toList();
    FreestNodes free = new FreestNodes(snapshot.nodes());
    NodeSlots unpinned = new NodeSlots(snapshot.nodes());
    SequencedMap<JobId, Plan.Assignment> made = new LinkedHashMap<>();
    int gpus = snapshot.totalSlots();
    for (JobState job : snapshot.jobs()) {
      if (job.pinned()) {
        gpus -= job.allocation().slots();
        free.take(job.allocation());
        unpinned.take(job.allocation());
        made.put(
            job.id(),
            new Plan.Assignment(
                job.allocation(), Reason.of("Pinned", "Must keep its allocation.")));
      }
    }
    int perNode = snapshot.nodes().stream().mapToInt(Node::slots).max().orElse(1);
    int[] sizes = sizes(jobs, gpus, unpinned, perNode);
    return place(snapshot, jobs, sizes, free, made);
  }

  private static int[] sizes(List<JobState> jobs, int gpus, NodeSlots nodes, int perNode) {
    int[] sizes = new int[jobs.size()];
    double[] gains = new double[jobs.size()];
    int left = gpus;
    for (int j = 0; j < sizes.length; j++) {
      int least = jobs.get(j).spec().elasticity().min();
      int slots = least * slotsPerReplica(jobs.get(j));
      if (left >= slots && possible(jobs.get(j), least, nodes)) {
        sizes[j] = least;
        left -= slots;
        gains[j] = gain(jobs.get(j), sizes[j], perNode);
      }
    }
    while (left > 0) {
      int best = -1;
      for (int j = 0; j < sizes.length; j++) {
        boolean fits = sizes[j] > 0 && more(jobs.get(j), sizes[j]) <= left;
        if (fits && gains[j] > 0 && (best < 0 || gains[j] > gains[best])) {
          best = j;
        }
      }
      if (best < 0) {
        break;
      }
      left -= (int) more(jobs.get(best), sizes[best]);
      sizes[best] = next(jobs.get(best), sizes[best]);
      gains[best] = gain(jobs.get(best), sizes[best], perNode);
    }
    return sizes;
  }

  /** Slots of one replica on the GPU type where that takes fewest: sizes know no types. */
  private static int slotsPerReplica(JobState job) {
    return Sizes.leastSlotsPerReplica(job.spec());
  }

  /** Whether nodes could hold the least size of a job whose replicas take several slots. */
  private static boolean possible(JobState job, int replicas, NodeSlots nodes) {
    return slotsPerReplica(job) == 1 || nodes.holds(job.spec(), replicas);
  }

  /** Slots that the next larger size takes more; very many if there is none. */
  private static long more(JobState job, int size) {
    return ((long) next(job, size) - size) * slotsPerReplica(job);
  }

  /** The next larger size that the job may have; very large if there is none. */
  private static int next(JobState job, int size) {
    int most = Math.min(job.spec().elasticity().max(), BatchChoice.maxReplicas(job.spec()));
    for (int larger = size + 1; larger <= most; larger++) {
      if (job.spec().elasticity().allows(larger)) {
        return larger;
      }
    }
    return Integer.MAX_VALUE;
  }

  /** Seconds saved for each GPU of the next larger size. */
  private static double gain(JobState job, int size, int perNode) {
    int larger = next(job, size);
    if (larger == Integer.MAX_VALUE) {
      return 0;
    }
    double saved = remainingSeconds(job, size, perNode) - remainingSeconds(job, larger, perNode);
    // A size of which nothing is known may not be worth anything: it is not tried.
    return Double.isFinite(saved) ? saved / more(job, size) : 0;
  }

  private static double remainingSeconds(JobState job, int replicas, int slotsPerNode) {
    int perNode = Math.max(1, slotsPerNode / slotsPerReplica(job));
    BatchLimits limits = job.spec().batchLimits();
    Optional<Foresight> truth = job.foresight();
    BatchPlan batch = split(limits, replicas);
    String type = BlindType.of(job).gpuType();
    if (truth.isPresent()) {
      return truth.get().remainingSteps(limits.targetGlobalBatch())
          * truth.get().stepSeconds(type, GpuTypes.packed(replicas, perNode), batch);
    }
    PlacementShape shape = new PlacementShape(Math.ceilDiv(replicas, perNode), replicas, type);
    double steps =
        job.progress()
            .map(progress ->
                Math.max(1, progress.totalScaleInvariantSteps() - progress.scaleInvariantSteps()))
            .orElse(1.0);
    return steps
        * job.model()
            .filter(model -> model.knows(shape.gpuType()))
            .map(model -> model.stepSeconds(shape, batch))
            .orElse(Double.POSITIVE_INFINITY);
  }

  /** The artifact's split: a single replica always takes two passes. */
  private static BatchPlan split(BatchLimits limits, int replicas) {
    double each = Math.ceil((double) limits.targetGlobalBatch() / replicas - EPSILON);
    int passes = (int) Math.ceil(each / limits.maxAtomicBatch() - EPSILON);
    passes = Math.max(passes, replicas == 1 ? 2 : 1);
    int atomic = (int) Math.ceil(each / passes - EPSILON);
    return new BatchPlan(
        Math.min(atomic, limits.maxGlobalBatch() / (replicas * passes)), passes - 1);
  }

  private static Plan place(
      Snapshot snapshot,
      List<JobState> jobs,
      int[] sizes,
      FreestNodes free,
      SequencedMap<JobId, Plan.Assignment> pinned) {
    Map<JobId, Plan.Assignment> made = new HashMap<>(pinned);
    List<Integer> moving = new ArrayList<>();
    for (int j = 0; j < sizes.length; j++) {
      JobState job = jobs.get(j);
      if (sizes[j] > 0
          && !job.allocation().isEmpty()
          && free.keep(job.allocation(), job.spec(), sizes[j])) {
        made.put(job.id(), assignment(job.allocation(), "Kept", sizes[j]));
      } else if (sizes[j] > 0) {
        moving.add(j);
      }
    }
    moving.sort(
        Comparator.comparingInt((Integer j) -> -slotsPerReplica(jobs.get(j)))
            .thenComparingInt(j -> sizes[j]));
    for (int j : moving) {
      JobState job = jobs.get(j);
      String code = job.allocation().isEmpty() ? "Started" : "Resized";
      placed(job, sizes[j], free)
          .ifPresent(allocation ->
              made.put(job.id(), assignment(allocation, code, allocation.replicas())));
    }
    SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();
    for (JobState job : snapshot.jobs()) {
      assignments.put(
          job.id(),
          made.getOrDefault(
              job.id(),
              new Plan.Assignment(
                  Allocation.NONE, Reason.of("Waiting", "No GPU was left for it."))));
    }
    return new Plan(assignments);
  }

  /** Sizes know nothing of GPU types: where no type has room for a size, smaller ones are tried. */
  private static Optional<Allocation> placed(JobState job, int size, FreestNodes free) {
    Optional<Allocation> found = free.place(job.spec(), size);
    for (int less = size - 1; found.isEmpty() && less >= job.spec().elasticity().min(); less--) {
      if (job.spec().elasticity().allows(less)) {
        found = free.place(job.spec(), less);
      }
    }
    return found;
  }

  private static Plan.Assignment assignment(Allocation allocation, String code, int size) {
    SequencedMap<String, Double> numbers = new LinkedHashMap<>();
    numbers.put("replicas", (double) size);
    return new Plan.Assignment(
        allocation,
        new Reason(code, "The size at which each GPU still shortens a job most.", numbers));
  }
}
