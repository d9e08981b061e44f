package dev.kastor.scheduler.plan;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Rule for jobs whose size changes by a restart, while nobody knows their speed: who runs keeps its
 * size, as a rigid job does.
 *
 * <p>A guess of what another size would be worth is no reason for a restart, and nothing measured
 * would ever say that the guess was wrong. Such a job may be stopped like any other, and has all
 * its sizes again once it holds nothing, has lost a node, or its speed is known.
 */
public final class UnknownSpeeds {
  private UnknownSpeeds() {}

  /** The snapshot in which these jobs have the one size that they run with. */
  public static Snapshot keepSizes(Snapshot snapshot) {
    if (snapshot.jobs().stream().noneMatch(UnknownSpeeds::concerns)) {
      return snapshot;
    }
    Map<String, Node> nodes = HashMap.newHashMap(snapshot.nodes().size());
    snapshot.nodes().forEach(node -> nodes.put(node.name(), node));
    List<JobState> jobs =
        snapshot.jobs().stream().map(job -> concerns(job) ? keepSize(job, nodes) : job).toList();
    return snapshot.withJobs(jobs);
  }

  private static boolean concerns(JobState job) {
    return job.spec().elasticity() instanceof Elasticity.Restarting
        && !job.allocation().isEmpty()
        && job.model().isEmpty();
  }

  private static JobState keepSize(JobState job, Map<String, Node> nodes) {
    JobSpec spec = job.spec();
    Allocation held = job.allocation();
    int replicas = 0;
    for (int i = 0; i < held.nodes(); i++) {
      Node node = nodes.get(held.node(i));
      if (node == null || node.slots() < held.slots(i) || !spec.runsOn(node.gpuType())) {
        return job;
      }
      replicas += held.slots(i) / spec.slotsPerReplica(node.gpuType());
    }
    return spec.elasticity().allows(replicas)
        ? job.withSpec(spec.withElasticity(new Elasticity.Rigid(replicas)))
        : job;
  }
}
