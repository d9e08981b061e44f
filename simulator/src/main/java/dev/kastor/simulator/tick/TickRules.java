package dev.kastor.simulator.tick;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.Node;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import java.util.List;
import java.util.Optional;

/** In what the published simulators differ; the ticks are common to them. */
interface TickRules {
  /** The cluster as a policy sees it. */
  List<Node> nodes();

  /** A job as a policy sees it. */
  JobSpec spec(Workload.Job job, Application application, Control control);

  /** What a job takes of what a policy gave it; the rest stays free. */
  default Allocation usable(Application application, Allocation given) {
    return given;
  }

  /** Where a job runs that a policy gave this. */
  Placement place(JobSpec spec, Application application, Allocation allocation);

  /** Whether a running job must stop to get from one placement to another. */
  boolean pauses(Placement from, Placement to);

  /** The batch it runs with there. */
  BatchPlan batch(
      JobSpec spec, Application application, Optional<GoodputModel> model, Placement placement);

  /** The GPU type under which its reports are filed. */
  String reportedType(String gpuType);

  /** Seconds of a pause as the policy is told. */
  double believedRestartSeconds(Application application);
}
