package dev.kastor.scheduler.plan;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The rules every plan must keep, whatever policy made it. */
public final class PlanCheck {
  private PlanCheck() {}

  /** All violations, in a stable order; empty for a good plan. */
  public static List<PlanViolation> violations(Snapshot snapshot, Plan plan) {
    List<PlanViolation> found = new ArrayList<>();
    Map<String, Use> nodes = HashMap.newHashMap(snapshot.nodes().size());
    snapshot.nodes().forEach(node -> nodes.put(node.name(), new Use(node)));
    int known = 0;
    for (JobState job : snapshot.jobs()) {
      Plan.Assignment assignment = plan.assignments().get(job.id());
      known += assignment == null ? 0 : 1;
      Allocation planned = assignment == null ? Allocation.NONE : assignment.allocation();
      if (job.pinned() || !planned.isEmpty()) {
        if (job.pinned()) {
          checkPinned(job, planned, nodes, found);
        } else {
          checkJob(job, planned, nodes, found);
        }
      }
    }
    // Only a plan that names a stranger has more assignments than the snapshot has such jobs.
    if (known < plan.assignments().size()) {
      found.addAll(0, strangers(snapshot, plan));
    }
    for (Node node : snapshot.nodes()) {
      Use use = nodes.get(node.name());
      // A node may have lost slots under pinned jobs; then nothing may join them there.
      if (use != null && use.planned > Math.max(node.slots(), use.pinned)) {
        found.add(new PlanViolation.OverCapacity(node.name(), node.slots(), use.planned));
      }
    }
    found.addAll(QuotaCheck.violations(snapshot, plan));
    return found;
  }

  /** A node and what the plan puts on it. */
  private static final class Use {
    final Node node;
    int planned;
    int pinned;

    Use(Node node) {
      this.node = node;
    }
  }

  private static List<PlanViolation> strangers(Snapshot snapshot, Plan plan) {
    Set<JobId> jobs = new HashSet<>();
    snapshot.jobs().forEach(job -> jobs.add(job.id()));
    List<PlanViolation> strangers = new ArrayList<>();
    for (JobId id : plan.assignments().keySet()) {
      if (!jobs.contains(id)) {
        strangers.add(new PlanViolation.UnknownJob(id));
      }
    }
    return strangers;
  }

  private static void checkPinned(
      JobState job, Allocation planned, Map<String, Use> nodes, List<PlanViolation> found) {
    // A pinned job may sit on what became invalid around it: that is not the plan's fault.
    if (!planned.equals(job.allocation())) {
      found.add(new PlanViolation.PinnedJobChanged(job.id(), job.allocation(), planned));
    }
    for (int i = 0; i < planned.nodes(); i++) {
      Use use = nodes.get(planned.node(i));
      if (use != null) {
        use.planned += planned.slots(i);
      }
    }
    for (int i = 0; i < job.allocation().nodes(); i++) {
      Use use = nodes.get(job.allocation().node(i));
      if (use != null) {
        use.pinned += job.allocation().slots(i);
      }
    }
  }

  private static void checkJob(
      JobState job, Allocation planned, Map<String, Use> nodes, List<PlanViolation> found) {
    JobSpec spec = job.spec();
    Use first = nodes.get(planned.node(0));
    int slotsPerReplica = first == null ? 0 : spec.slotsPerReplica(first.node.gpuType());
    if (first != null && planned.slotsPerReplica() != slotsPerReplica) {
      found.add(
          new PlanViolation.WrongSlotsPerReplica(
              job.id(), slotsPerReplica, planned.slotsPerReplica()));
    }
    if (!spec.elasticity().allows(planned.replicas())) {
      found.add(
          new PlanViolation.ReplicasNotAllowed(job.id(), planned.replicas(), spec.elasticity()));
    }
    for (int i = 0; i < planned.nodes(); i++) {
      String name = planned.node(i);
      Use use = i == 0 ? first : nodes.get(name);
      if (use == null) {
        found.add(new PlanViolation.UnknownNode(job.id(), name));
        continue;
      }
      use.planned += planned.slots(i);
      String type = use.node.gpuType();
      if (!spec.runsOn(type)) {
        found.add(new PlanViolation.WrongGpuType(job.id(), name, wanted(spec), type));
      } else if (!spec.byGpuType().isEmpty()
          && first != null
          && !first.node.gpuType().equals(type)) {
        found.add(new PlanViolation.MixedGpuTypes(job.id(), first.node.gpuType(), type));
      }
    }
  }

  private static String wanted(JobSpec spec) {
    return spec.gpuType().isEmpty()
        ? String.join(" or ", spec.byGpuType().keySet())
        : spec.gpuType();
  }
}
