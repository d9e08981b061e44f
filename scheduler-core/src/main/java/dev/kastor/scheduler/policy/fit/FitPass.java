package dev.kastor.scheduler.policy.fit;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Quotas;
import dev.kastor.scheduler.policy.support.FreeSlots;
import dev.kastor.scheduler.policy.support.Sizes;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * A plan without replicas on nodes that are closed to their jobs.
 *
 * <p>A job gets the same number of replicas on other nodes, else fewer; one that runs then keeps
 * what it has, and where others were planned there, all that run stay as they are. What nobody can
 * use so is for jobs that got nothing, in the policy's order. A replica that is on a node already
 * stays there, whatever the node takes now. Used for one planning call.
 */
final class FitPass {
  private static final Reason LET_IN =
      Reason.of("Started", "Nodes have room for it that others cannot use.");

  private static final Reason STAYS =
      Reason.of("Kept", "Nodes do not take a job that was to move, so all stay where they are.");

  private final Snapshot snapshot;
  private final Plan plan;
  private final Control control;
  private final FreeSlots free;
  private final Quotas quotas;
  private final Map<String, Node> nodes = new HashMap<>();
  private final List<JobState> order = new ArrayList<>();
  private final Map<JobId, Allocation> given = new HashMap<>();
  private final Map<JobId, Reason> reasons = new HashMap<>();

  /** Slots that jobs were planned to have and cannot use. */
  private int freed;

  FitPass(Snapshot snapshot, Plan plan, Control control) {
    this.snapshot = snapshot;
    this.plan = plan;
    this.control = control;
    free = new FreeSlots(snapshot.nodes());
    quotas = Quotas.of(snapshot);
    snapshot.nodes().forEach(node -> nodes.put(node.name(), node));
  }

  Plan fitting() {
    Set<JobId> misfits = new HashSet<>();
    for (JobState job : snapshot.jobs()) {
      Allocation planned = plan.allocation(job.id());
      if (!job.pinned() && fitting(job, planned).replicas() < planned.replicas()) {
        misfits.add(job.id());
      }
    }
    if (misfits.isEmpty()) {
      return plan;
    }
    for (JobState job : snapshot.jobs()) {
      take(job, plan.allocation(job.id()));
    }
    put();
    boolean stopped = false;
    for (JobState job : order) {
      if (misfits.contains(job.id())) {
        replace(job);
        stopped |= given(job).isEmpty() && !job.allocation().isEmpty();
      }
    }
    if (stopped) {
      stay();
    }
    for (JobState job : order) {
      if (freed > 0 && given(job).isEmpty() && !job.pinned()) {
        letIn(job);
      }
    }
    SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();
    for (JobState job : order) {
      Reason reason = reasons.getOrDefault(job.id(), plan.reason(job.id()));
      assignments.put(job.id(), new Plan.Assignment(given(job), reason));
    }
    return new Plan(assignments, plan.otherwise());
  }

  /**
   * Leaves all that run as they are, for this round: who runs is not to stop because others were
   * planned where it is and it nowhere else. What is left is for those who were planned to start.
   */
  private void stay() {
    freed = 0;
    for (JobState job : order) {
      release(job);
    }
    for (JobState job : order) {
      if (!job.allocation().isEmpty() || job.pinned()) {
        take(job, job.allocation());
        reasons.put(job.id(), STAYS);
      }
    }
    for (JobState job : order) {
      Allocation planned = plan.allocation(job.id());
      if (job.allocation().isEmpty() && !planned.isEmpty() && !job.pinned()) {
        freed = planned.slots();
        letIn(job);
      }
    }
    freed = 0;
  }

  /** All jobs in the policy's order: as its plan names them, then the others as they came. */
  private void put() {
    Map<JobId, JobState> unnamed = new LinkedHashMap<>();
    snapshot.jobs().forEach(job -> unnamed.put(job.id(), job));
    for (JobId id : plan.assignments().keySet()) {
      JobState job = unnamed.remove(id);
      if (job != null) {
        order.add(job);
      }
    }
    order.addAll(unnamed.values());
  }

  /** The part of an allocation that its nodes take: elsewhere only what is there already. */
  private Allocation fitting(JobState job, Allocation planned) {
    Map<String, String> closed = snapshot.closed(job.id());
    if (closed.isEmpty() || planned.isEmpty()) {
      return planned;
    }
    Map<String, Integer> has = job.allocation().replicasByNode();
    SequencedMap<String, Integer> fits = new TreeMap<>();
    planned
        .replicasByNode()
        .forEach((node, count) -> {
          int there = closed.containsKey(node) ? Math.min(count, has.getOrDefault(node, 0)) : count;
          if (there > 0) {
            fits.put(node, there);
          }
        });
    return fits.isEmpty() ? Allocation.NONE : new Allocation(fits, planned.slotsPerReplica());
  }

  private void replace(JobState job) {
    Allocation planned = given(job);
    Allocation fits = fitting(job, planned);
    release(job);
    freed += planned.slots();
    Optional<Allocation> found =
        fits.isEmpty() ? elsewhere(job, planned) : extended(job, fits, planned.replicas());
    found
        .or(() -> Optional.of(job.allocation()).filter(has -> !has.isEmpty() && keeps(job, has)))
        .ifPresentOrElse(
            allocation -> {
              take(job, allocation);
              freed -= allocation.slots();
              if (allocation.equals(job.allocation())) {
                reasons.put(job.id(), Reason.of("Kept", closed(job, planned).message()));
              }
            },
            () -> reasons.put(job.id(), closed(job, planned)));
  }

  private boolean keeps(JobState job, Allocation has) {
    boolean keeps = free.keepAtAnySize(has, job.spec());
    if (keeps) {
      // Only looked whether it is free: whoever asked takes it.
      free.give(has);
    }
    return keeps && has.slots() <= quotas.room(job);
  }

  private Reason closed(JobState job, Allocation planned) {
    return FitPolicy.closed(snapshot.closed(job.id()), planned.replicasByNode().keySet());
  }

  /**
   * The fitting part of what was planned, with as many replicas on nodes of its type as it lacks.
   */
  private Optional<Allocation> extended(JobState job, Allocation fits, int wanted) {
    Map<String, String> closed = snapshot.closed(job.id());
    String type = type(fits.node(0));
    int each = fits.slotsPerReplica();
    SequencedMap<String, Integer> all = new TreeMap<>(fits.replicasByNode());
    free.take(fits);
    int missing = wanted - fits.replicas();
    for (Node node : snapshot.nodes()) {
      if (missing > 0 && node.gpuType().equals(type) && !closed.containsKey(node.name())) {
        int more = Math.clamp(free.left(node.name()) / each, 0, missing);
        if (more > 0) {
          all.merge(node.name(), more, Integer::sum);
          missing -= more;
        }
      }
    }
    free.give(fits);
    return allowed(job, new Allocation(all, each));
  }

  /** Replicas on nodes that take them, of the type that was planned where one has room. */
  private Optional<Allocation> elsewhere(JobState job, Allocation planned) {
    List<String> type = List.of(type(planned.node(0)));
    int least = control == Control.PLACEMENT ? planned.replicas() : fewest(job);
    for (int replicas = planned.replicas(); replicas >= least; replicas--) {
      if (job.spec().elasticity().allows(replicas)) {
        Optional<Allocation> placed =
            place(job, job.spec().byGpuType().isEmpty() ? job.spec() : onType(job, type), replicas);
        if (placed.isPresent()) {
          return placed;
        }
      }
    }
    return place(job, job.spec(), least);
  }

  private static JobSpec onType(JobState job, Collection<String> type) {
    SequencedMap<String, GpuTraits> traits = new LinkedHashMap<>(job.spec().byGpuType());
    traits.keySet().retainAll(type);
    return traits.isEmpty() ? job.spec() : job.spec().withTypes(traits);
  }

  /** A place on nodes that are open to the job, not taken yet. */
  private Optional<Allocation> place(JobState job, JobSpec spec, int replicas) {
    List<Allocation> blocked = new ArrayList<>();
    for (String name : snapshot.closed(job.id()).keySet()) {
      int left = free.left(name);
      if (left > 0) {
        blocked.add(Allocation.on(name, left, 1));
      }
    }
    blocked.forEach(free::take);
    Optional<Allocation> placed = free.place(spec, replicas, quotas.room(job));
    blocked.forEach(free::give);
    placed.ifPresent(free::give);
    return placed;
  }

  /** At most that many replicas, as many as the job may have; empty if it may have none such. */
  private Optional<Allocation> allowed(JobState job, Allocation most) {
    int replicas = most.replicas();
    while (replicas > 0 && !job.spec().elasticity().allows(replicas)) {
      replicas--;
    }
    if (replicas == 0) {
      return Optional.empty();
    }
    SequencedMap<String, Integer> kept = new TreeMap<>();
    int left = replicas;
    // What it has comes first: whoever runs on goes on where it is.
    for (boolean has : new boolean[] {true, false}) {
      for (int i = 0; i < most.nodes() && left > 0; i++) {
        String node = most.node(i);
        if (job.allocation().replicasByNode().containsKey(node) == has) {
          int count = Math.min(left, Objects.requireNonNull(most.replicasByNode().get(node)));
          kept.put(node, count);
          left -= count;
        }
      }
    }
    return Optional.of(new Allocation(kept, most.slotsPerReplica()));
  }

  private void letIn(JobState job) {
    int replicas = control == Control.PLACEMENT ? Sizes.requested(job.spec()) : fewest(job);
    if (job.spec().elasticity().allows(replicas)) {
      place(job, job.spec(), replicas)
          .filter(allocation -> allocation.slots() <= freed)
          .ifPresent(allocation -> {
            take(job, allocation);
            freed -= allocation.slots();
            reasons.put(job.id(), LET_IN);
          });
    }
  }

  private static int fewest(JobState job) {
    return Sizes.fewest(job.spec().elasticity());
  }

  private String type(String node) {
    Node known = nodes.get(node);
    return known == null ? "" : known.gpuType();
  }

  private Allocation given(JobState job) {
    return Objects.requireNonNull(given.get(job.id()));
  }

  private void take(JobState job, Allocation allocation) {
    free.take(allocation);
    quotas.take(job, allocation.slots());
    given.put(job.id(), allocation);
  }

  private void release(JobState job) {
    Allocation before = given(job);
    free.give(before);
    quotas.take(job, -before.slots());
    given.put(job.id(), Allocation.NONE);
  }
}
