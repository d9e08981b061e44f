package dev.kastor.scheduler;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The rules every plan must keep, whatever policy made it. */
public final class PlanCheck {
  private PlanCheck() {}

  /** All violations, in a stable order; empty for a good plan. */
  public static List<PlanViolation> violations(Snapshot snapshot, Plan plan) {
    List<PlanViolation> found = new ArrayList<>();
    Map<String, Node> nodes = new HashMap<>();
    snapshot.nodes().forEach(node -> nodes.put(node.name(), node));
    Map<JobId, JobState> jobs = new HashMap<>();
    snapshot.jobs().forEach(job -> jobs.put(job.id(), job));
    for (JobId id : plan.assignments().keySet()) {
      if (!jobs.containsKey(id)) {
        found.add(new PlanViolation.UnknownJob(id));
      }
    }
    for (JobState job : snapshot.jobs()) {
      checkJob(job, plan.allocation(job.id()), nodes, found);
    }
    checkCapacity(snapshot, plan, found);
    return found;
  }

  private static void checkJob(
      JobState job, Allocation planned, Map<String, Node> nodes, List<PlanViolation> found) {
    if (job.pinned()) {
      // A pinned job may sit on what became invalid around it: that is not the plan's fault.
      if (!planned.equals(job.allocation())) {
        found.add(new PlanViolation.PinnedJobChanged(job.id(), job.allocation(), planned));
      }
      return;
    }
    if (planned.isEmpty()) {
      return;
    }
    JobSpec spec = job.spec();
    Node first = nodes.get(planned.node(0));
    // Slots of a job that is not split over a pipeline are its replicas.
    int unit = first == null ? 1 : spec.gpusPerReplica(first.gpuType());
    if (planned.replicas() % unit != 0 || !spec.elasticity().allows(planned.replicas() / unit)) {
      found.add(
          new PlanViolation.ReplicasNotAllowed(job.id(), planned.replicas(), spec.elasticity()));
    }
    for (int i = 0; i < planned.nodes(); i++) {
      String name = planned.node(i);
      Node node = nodes.get(name);
      if (node == null) {
        found.add(new PlanViolation.UnknownNode(job.id(), name));
      } else if (!spec.runsOn(node.gpuType())) {
        found.add(new PlanViolation.WrongGpuType(job.id(), name, wanted(spec), node.gpuType()));
      } else if (!spec.byGpuType().isEmpty()
          && first != null
          && !first.gpuType().equals(node.gpuType())) {
        found.add(new PlanViolation.MixedGpuTypes(job.id(), first.gpuType(), node.gpuType()));
      }
    }
  }

  private static String wanted(JobSpec spec) {
    return spec.gpuType().isEmpty()
        ? String.join(" or ", spec.byGpuType().keySet())
        : spec.gpuType();
  }

  private static void checkCapacity(Snapshot snapshot, Plan plan, List<PlanViolation> found) {
    Map<String, Integer> planned = new HashMap<>();
    Map<String, Integer> pinned = new HashMap<>();
    for (JobState job : snapshot.jobs()) {
      add(plan.allocation(job.id()), planned);
      if (job.pinned()) {
        add(job.allocation(), pinned);
      }
    }
    for (Node node : snapshot.nodes()) {
      int want = planned.getOrDefault(node.name(), 0);
      // A node may have lost slots under pinned jobs; then nothing may join them there.
      if (want > Math.max(node.slots(), pinned.getOrDefault(node.name(), 0))) {
        found.add(new PlanViolation.OverCapacity(node.name(), node.slots(), want));
      }
    }
  }

  private static void add(Allocation allocation, Map<String, Integer> slots) {
    for (int i = 0; i < allocation.nodes(); i++) {
      slots.merge(allocation.node(i), allocation.count(i), Integer::sum);
    }
  }
}
