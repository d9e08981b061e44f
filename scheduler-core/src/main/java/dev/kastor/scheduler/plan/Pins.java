package dev.kastor.scheduler.plan;

import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Snapshot;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Pins that owners of jobs ask for, held as far as nobody else has the better right to the GPUs.
 *
 * <p>An owner can pin a job to keep it from being moved and resized for what others would gain. A
 * pin must not turn what is lent, or what belongs to a higher priority, into property. So it holds
 * within the nominal quota of the job's queue, for the jobs in their order, and while no job of a
 * higher priority could use what the job has, unless the queue says that pins always hold.
 *
 * @param snapshot the cluster with the pins that hold
 * @param broken why the others do not hold in this round, by job
 */
public record Pins(Snapshot snapshot, SequencedMap<JobId, String> broken) {
  /**
   * The pins that hold.
   *
   * @param snapshot the cluster with the jobs pinned that have to stay for reasons of their own
   * @param asked jobs with an allocation whose owners want it to stay as it is
   */
  public static Pins of(Snapshot snapshot, Set<JobId> asked) {
    SequencedMap<JobId, String> broken = new LinkedHashMap<>();
    if (asked.isEmpty()) {
      return new Pins(snapshot, broken);
    }
    Map<String, Integer> claims = claims(snapshot, asked);
    Map<String, String> types = new HashMap<>();
    snapshot.nodes().forEach(node -> types.put(node.name(), node.gpuType()));
    Map<String, Integer> pinnedSlots = new HashMap<>();
    List<JobState> jobs =
        snapshot.jobs().stream()
            .map(job -> {
              if (job.pinned() || !asked.contains(job.id())) {
                return job;
              }
              String problem = problem(job, snapshot, claims, types, pinnedSlots);
              if (problem.isEmpty()) {
                return job.pinnedAsItIs();
              }
              broken.put(job.id(), problem);
              return job;
            })
            .toList();
    return new Pins(snapshot.withJobs(jobs), broken);
  }

  /** Why a pin does not hold; empty if it does. */
  private static String problem(
      JobState job,
      Snapshot snapshot,
      Map<String, Integer> claims,
      Map<String, String> types,
      Map<String, Integer> pinnedSlots) {
    Queue queue = snapshot.queue(job.spec().queue());
    if (queue.pinsAlwaysHold()) {
      return "";
    }
    int priority = job.spec().priority();
    boolean outranked =
        job.allocation().replicasByNode().keySet().stream()
            .anyMatch(node ->
                claims.getOrDefault(types.getOrDefault(node, ""), Integer.MIN_VALUE) > priority);
    if (outranked) {
      return "a job of a higher priority than %d may use its GPUs".formatted(priority);
    }
    int slots = job.allocation().slots();
    int together = pinnedSlots.getOrDefault(queue.name(), 0) + slots;
    if (queue.quota().isPresent() && together > queue.quota().get().gpus()) {
      return "pinned jobs of queue %s hold %d GPUs together with it, and the quota is %d"
          .formatted(queue.name(), together, queue.quota().get().gpus());
    }
    pinnedSlots.put(queue.name(), together);
    return "";
  }

  /** The highest priority of the jobs that could use more GPUs of a type, by that type. */
  private static Map<String, Integer> claims(Snapshot snapshot, Set<JobId> asked) {
    Quotas quotas = Quotas.of(snapshot);
    snapshot.jobs().forEach(job -> quotas.take(job, job.allocation().slots()));
    Set<String> types = new HashSet<>();
    snapshot.nodes().forEach(node -> types.add(node.gpuType()));
    Map<Size, Integer> most = new HashMap<>();
    Map<String, Integer> claims = new HashMap<>();
    for (JobState job : snapshot.jobs()) {
      if (job.pinned() || asked.contains(job.id()) || !wantsMore(job, snapshot, quotas)) {
        continue;
      }
      for (String type : types) {
        Size size = new Size(type, job.spec().slotsPerReplica(type));
        int replicas = most.computeIfAbsent(size, each -> replicas(snapshot, each));
        if (job.spec().runsOn(type) && job.spec().elasticity().min() <= replicas) {
          claims.merge(type, job.spec().priority(), Math::max);
        }
      }
    }
    return claims;
  }

  /** Replicas of a size on a GPU type. */
  private record Size(String gpuType, int slotsPerReplica) {}

  /** Most replicas of a size that all nodes of the type can hold. */
  private static int replicas(Snapshot snapshot, Size size) {
    int replicas = 0;
    for (Node node : snapshot.nodes()) {
      replicas += node.gpuType().equals(size.gpuType()) ? node.replicas(size.slotsPerReplica()) : 0;
    }
    return replicas;
  }

  private static boolean wantsMore(JobState job, Snapshot snapshot, Quotas quotas) {
    boolean stopped =
        switch (snapshot.queue(job.spec().queue()).stop()) {
          case NONE -> false;
          case HOLD -> job.allocation().isEmpty();
          case HOLD_AND_DRAIN -> true;
        };
    QuotaAccount account = quotas.account(job);
    return !stopped
        && job.allocation().replicas() < job.spec().elasticity().max()
        && (account == null || !account.atOwnLimit());
  }
}
