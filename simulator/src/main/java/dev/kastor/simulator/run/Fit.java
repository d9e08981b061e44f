package dev.kastor.simulator.run;

import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.event.Largest;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.traces.Application;
import dev.kastor.traces.CsvRow;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.profile.Applications;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Refuses a workload with a job that could never run on the cluster. */
final class Fit {
  private Fit() {}

  static void check(Run run, Workload workload, Map<String, Application> applications)
      throws TraceException {
    Control control = Policies.traits(run.policy()).control();
    ClusterShape largest = largest(run);
    for (Workload.Job job : workload.jobs()) {
      Application application = Applications.of(job, applications);
      int usable = usable(run, largest, application, job);
      boolean sizeIsGiven =
          control == Control.PLACEMENT || job.category() == Workload.Category.RIGID;
      // Kastor's own mode gives no job more than its application can use.
      int most =
          run.mode() == Mode.EVENTS
              ? Math.min(job.maxReplicas(), application.maxReplicas())
              : job.maxReplicas();
      int needed = sizeIsGiven ? Math.min(job.requestedReplicas(), most) : job.minReplicas();
      if (needed > usable) {
        throw refusal(run, job, needed, usable, sizeIsGiven, application);
      }
    }
  }

  /**
   * Replicas that one job could ever have: a job that knows types uses one of them at a time, and
   * some policies nodes of one kind.
   */
  private static int usable(
      Run run, ClusterShape largest, Application application, Workload.Job job) {
    Map<Object, Integer> pools = new HashMap<>();
    boolean uniform = Policies.traits(run.policy()).uniformNodes();
    for (ClusterShape.Group group : largest.groups()) {
      if (anyType(application) || application.gpuTypes().contains(group.gpuType())) {
        Object pool =
            uniform
                ? List.of(group.gpuType(), group.spot(), group.pricePerHour() / group.gpusPerNode())
                : anyType(application) ? "" : group.gpuType();
        pools.merge(pool, group.replicas(slotsPerReplica(job, application, group)), Integer::sum);
      }
    }
    return pools.values().stream().mapToInt(replicas -> replicas).max().orElse(0);
  }

  private static int slotsPerReplica(
      Workload.Job job, Application application, ClusterShape.Group group) {
    return job.slotsPerReplica(application, anyType(application) ? "" : group.gpuType());
  }

  private static ClusterShape largest(Run run) throws TraceException {
    try {
      return Largest.of(run.cluster(), run.conditions().resizes(), run.conditions().autoscaling());
    } catch (IllegalArgumentException e) {
      throw new TraceException("%s: %s".formatted(run.workload(), e.getMessage()), e);
    }
  }

  private static boolean anyType(Application application) {
    return application.gpuTypes().contains("");
  }

  private static TraceException refusal(
      Run run,
      Workload.Job job,
      int needed,
      int usable,
      boolean sizeIsGiven,
      Application application) {
    String types =
        anyType(application)
            ? ""
            : " of one type that %s was measured on (%s)"
                .formatted(application.name(), String.join(", ", application.gpuTypes()));
    int each =
        run.cluster().groups().stream()
            .filter(
                group -> anyType(application) || application.gpuTypes().contains(group.gpuType()))
            .mapToInt(group -> slotsPerReplica(job, application, group))
            .min()
            .orElse(1);
    String what =
        "job '%s' needs %s %d %s under policy %s, but cluster %s has %d%s. Use a larger cluster or remove the job."
            .formatted(
                job.name(),
                sizeIsGiven ? "its" : "at least",
                needed,
                each == 1 ? "GPUs" : "replicas of %d GPUs of one node each".formatted(each),
                run.policy(),
                run.cluster(),
                usable,
                types);
    Path file = Path.of(run.workload());
    try {
      for (CsvRow row : CsvRow.readAtLeast(file, List.of("name"))) {
        if (row.text("name").equals(job.name())) {
          return row.problem("", what);
        }
      }
    } catch (TraceException e) {
      // A format in which a job is not a named row: then its name must do.
      return new TraceException("%s: %s".formatted(file, what), e);
    }
    return new TraceException("%s: %s".formatted(file, what));
  }
}
