package dev.kastor.scheduler.policy.tiresias;

import dev.kastor.plugin.Option;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.scheduler.policy.support.FreestNodes;
import dev.kastor.scheduler.policy.support.GangFill;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;

/**
 * Tiresias (NSDI 2019, section 3.3): discretised least attained service with two queues, for jobs
 * of fixed size, as Pollux's artifact (OSDI 2021, section 5) runs it.
 *
 * <p>Jobs that have used fewer than 16 GPU-hours (an option) come first, in order of arrival; then
 * the others, in the order in which they passed that mark. Whoever fits runs, so smaller jobs may
 * pass larger ones; whoever does not fit any more is suspended. Running jobs never move.
 */
public final class TiresiasPolicy implements Policy {
  private static final Option<Double> THRESHOLD =
      Option.number(
              "threshold",
              16,
              "GPU-hours of attained service from which a job comes after all that have less")
          .where(value -> value > 0, "above 0");

  /** Plug-in of this policy. */
  public static final PolicyPlugin PLUGIN =
      PolicyPlugin.of(
          "tiresias",
          "Least attained service first in two queues, with the sizes that owners "
              + "asked for (NSDI 2019).",
          PolicyTraits.of(Control.PLACEMENT),
          List.of(THRESHOLD),
          (context, options) -> new TiresiasPolicy(options.get(THRESHOLD)));

  private static final Reason KEPT = Reason.of("Kept", "Has least attained service.");
  private static final Reason STARTED = Reason.of("Started", "Has least attained service.");
  private static final Reason WAITING =
      Reason.of("Waiting", "Jobs with less attained service took the GPUs.");

  private final double thresholdGpuSeconds;
  private final SequencedSet<JobId> served = new LinkedHashSet<>();

  private TiresiasPolicy(double thresholdGpuHours) {
    thresholdGpuSeconds = 3600 * thresholdGpuHours;
  }

  @Override
  public Plan plan(Snapshot snapshot) {
    GangFill fill = new GangFill(snapshot, new FreestNodes(snapshot.nodes()), KEPT, STARTED);
    Map<JobId, Integer> others = HashMap.newHashMap(served.size());
    List<JobState> jobs = snapshot.jobs();
    for (int j = 0; j < jobs.size(); j++) {
      JobState job = jobs.get(j);
      if (served.contains(job.id())) {
        others.put(job.id(), j);
      } else if (job.attainedService() < thresholdGpuSeconds) {
        fill.offer(j);
      } else {
        // Attained service of a running job is measured when it is looked at, as there.
        served.add(job.id());
        others.put(job.id(), j);
      }
    }
    served.retainAll(others.keySet());
    for (JobId id : served) {
      fill.offer(others.getOrDefault(id, -1));
    }
    return fill.elseWaiting(WAITING);
  }
}
