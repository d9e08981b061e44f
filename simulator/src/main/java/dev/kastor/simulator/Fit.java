package dev.kastor.simulator;

import dev.kastor.scheduler.Control;
import dev.kastor.scheduler.policy.Policies;
import dev.kastor.scheduler.policy.PolicyOptions;
import dev.kastor.traces.Application;
import dev.kastor.traces.Applications;
import dev.kastor.traces.CsvRow;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Refuses a workload with a job that could never run on the cluster. */
final class Fit {
  private Fit() {}

  static void check(Run run, Workload workload, Map<String, Application> applications)
      throws TraceException {
    Control control = Policies.create(run.policy(), PolicyOptions.defaults(run.seed())).control();
    for (Workload.Job job : workload.jobs()) {
      int usable = usable(run.cluster(), Applications.of(job, applications));
      boolean sizeIsGiven =
          control == Control.PLACEMENT || job.category() == Workload.Category.RIGID;
      int needed = sizeIsGiven ? job.requestedReplicas() : job.minReplicas();
      if (needed > usable) {
        throw refusal(run, job, needed, usable, sizeIsGiven, Applications.of(job, applications));
      }
    }
  }

  private static int usable(ClusterShape cluster, Application application) {
    if (application.gpuTypes().contains("")) {
      return cluster.gpus();
    }
    return cluster.groups().stream()
        .filter(group -> application.gpuTypes().contains(group.gpuType()))
        .mapToInt(group -> group.nodes() * group.gpusPerNode())
        .sum();
  }

  private static TraceException refusal(
      Run run,
      Workload.Job job,
      int needed,
      int usable,
      boolean sizeIsGiven,
      Application application)
      throws TraceException {
    String types =
        application.gpuTypes().contains("")
            ? ""
            : " of the types that %s was measured on (%s)"
                .formatted(application.name(), String.join(", ", application.gpuTypes()));
    String what =
        "job '%s' needs %s %d GPUs under policy %s, but cluster %s has %d%s. Use a larger cluster or remove the job."
            .formatted(
                job.name(),
                sizeIsGiven ? "its" : "at least",
                needed,
                run.policy(),
                run.cluster(),
                usable,
                types);
    Path file = Path.of(run.workload());
    for (CsvRow row : CsvRow.readAtLeast(file, List.of("name"))) {
      if (row.text("name").equals(job.name())) {
        return row.problem("", what);
      }
    }
    return new TraceException("%s: %s".formatted(file, what));
  }
}
