package dev.kastor.scheduler.policy.fit;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.support.Sizes;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Any policy, made to keep further replicas off nodes that take none of their job.
 *
 * <p>A policy takes the nodes of a GPU type for alike, which those are for nearly all jobs. A job
 * that the other nodes could not hold if they were empty never reaches it: nobody is to make room
 * for that job in vain. What it plans for nodes that are {@linkplain Snapshot#closed closed} to a
 * job is moved by {@link FitPass}. Where no node is closed to anybody, it is the policy alone.
 */
public final class FitPolicy implements Policy {
  private final Policy policy;
  private final Control control;

  /**
   * A policy in force.
   *
   * @param control what it decides for its jobs
   */
  public FitPolicy(Policy policy, Control control) {
    this.policy = policy;
    this.control = control;
  }

  @Override
  public Plan plan(Snapshot snapshot) {
    if (snapshot.closed().isEmpty()) {
      return policy.plan(snapshot);
    }
    // Most jobs that a node is closed to share the map, as they share the rules of their pods.
    IdentityHashMap<Map<String, String>, Map<Integer, Long>> rooms = new IdentityHashMap<>();
    SequencedMap<JobId, Plan.Assignment> barred = new LinkedHashMap<>();
    List<JobState> open = new ArrayList<>();
    for (JobState job : snapshot.jobs()) {
      if (job.allocation().isEmpty() && !job.pinned() && !fits(job, snapshot, rooms)) {
        Reason reason = closed(snapshot.closed(job.id()), snapshot.closed(job.id()).keySet());
        barred.put(job.id(), new Plan.Assignment(Allocation.NONE, reason));
      } else {
        open.add(job);
      }
    }
    Snapshot admitted = barred.isEmpty() ? snapshot : snapshot.withJobs(open);
    Plan plan = new FitPass(admitted, policy.plan(admitted), control).fitting();
    if (barred.isEmpty()) {
      return plan;
    }
    SequencedMap<JobId, Plan.Assignment> all = new LinkedHashMap<>(plan.assignments());
    all.putAll(barred);
    return new Plan(all, plan.otherwise());
  }

  /** Whether the nodes that take the job could hold its least size if they were empty. */
  private boolean fits(
      JobState job,
      Snapshot snapshot,
      IdentityHashMap<Map<String, String>, Map<Integer, Long>> rooms) {
    Map<String, String> closed = snapshot.closed(job.id());
    if (closed.isEmpty()) {
      return true;
    }
    int least =
        control == Control.PLACEMENT
            ? Sizes.requested(job.spec())
            : Sizes.fewest(job.spec().elasticity());
    int slots = job.spec().slotsPerReplica();
    long room =
        job.spec().byGpuType().isEmpty()
            ? rooms
                .computeIfAbsent(closed, key -> new HashMap<>())
                .computeIfAbsent(slots, each -> room(job, snapshot, closed))
            : room(job, snapshot, closed);
    return room >= least;
  }

  /** Replicas that the nodes which take the job could hold if they were empty. */
  private static long room(JobState job, Snapshot snapshot, Map<String, String> closed) {
    long room = 0;
    for (Node node : snapshot.nodes()) {
      boolean suits =
          job.spec().byGpuType().isEmpty() || job.spec().byGpuType().containsKey(node.gpuType());
      if (suits && !closed.containsKey(node.name())) {
        room += node.slots() / job.spec().slotsPerReplica();
      }
    }
    return room;
  }

  /** The reason of a job that waits beside nodes which do not take it. */
  static Reason closed(Map<String, String> words, Collection<String> nodes) {
    Map<String, String> told = new TreeMap<>(words);
    told.keySet().retainAll(nodes);
    return Reason.of(
        "NodesClosed",
        "Nodes take no replica of it: %s."
            .formatted(
                told.entrySet().stream()
                    .map(node -> node.getKey() + " (" + node.getValue() + ")")
                    .collect(Collectors.joining("; "))));
  }
}
