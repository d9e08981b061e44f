package dev.kastor.simulator;

import dev.kastor.scheduler.Control;
import dev.kastor.scheduler.advice.NodeRules;
import dev.kastor.scheduler.policy.Policies;
import dev.kastor.scheduler.policy.PolicyOptions;
import dev.kastor.simulator.event.Resize;
import dev.kastor.traces.Application;
import dev.kastor.traces.Applications;
import dev.kastor.traces.CsvRow;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Refuses a workload with a job that could never run on the cluster. */
final class Fit {
  private Fit() {}

  static void check(Run run, Workload workload, Map<String, Application> applications)
      throws TraceException {
    Control control = Policies.create(run.policy(), PolicyOptions.defaults(run.seed())).control();
    for (Workload.Job job : workload.jobs()) {
      Application application = Applications.of(job, applications);
      int usable = usable(run, application);
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

  /** GPUs that one job could ever hold: a job that knows types uses one of them at a time. */
  private static int usable(Run run, Application application) {
    IntStream groups =
        run.cluster().groups().stream()
            .filter(
                group -> anyType(application) || application.gpuTypes().contains(group.gpuType()))
            .mapToInt(group -> most(run, group) * group.gpusPerNode());
    return anyType(application) ? groups.sum() : groups.max().orElse(0);
  }

  private static boolean anyType(Application application) {
    return application.gpuTypes().contains("");
  }

  /** Nodes of a group when it is largest. */
  private static int most(Run run, ClusterShape.Group group) {
    int scaled =
        run.conditions()
            .autoscaling()
            .flatMap(follows -> follows.rules().range(group.gpuType()))
            .map(NodeRules.Range::max)
            .orElse(0);
    return run.conditions().resizes().stream()
        .filter(resize -> resize.gpuType().equals(group.gpuType()))
        .mapToInt(Resize::nodes)
        .reduce(Math.max(group.nodes(), scaled), Math::max);
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
