package dev.kastor.traces;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Jobs to submit over time.
 *
 * @param name what to call it in a report
 * @param jobs by rising submission time, then in file order
 */
public record Workload(String name, List<Job> jobs) {
  /**
   * One submission.
   *
   * @param name unique in the workload
   * @param submitSeconds from the start of the replay
   * @param profile name of its {@link JobProfile}
   * @param minReplicas fewest replicas
   * @param maxReplicas most replicas
   * @param staticReplicas what its owner would have typed on a cluster without elasticity
   */
  public record Job(
      String name,
      double submitSeconds,
      String profile,
      int minReplicas,
      int maxReplicas,
      int staticReplicas) {}

  private static final List<String> COLUMNS =
      List.of("name", "submitSeconds", "profile", "minReplicas", "maxReplicas", "staticReplicas");

  public Workload {
    jobs = List.copyOf(jobs);
  }

  /** Reads a CSV file whose jobs use only the given profiles. */
  public static Workload read(Path file, Set<String> profiles) throws TraceException {
    List<Job> jobs = new ArrayList<>();
    Set<String> names = new HashSet<>();
    double last = 0;
    for (CsvRow row : CsvRow.read(file, COLUMNS)) {
      Job job =
          new Job(
              row.text("name"),
              row.atLeast("submitSeconds", last),
              row.text("profile"),
              row.positive("minReplicas"),
              row.positive("maxReplicas"),
              row.positive("staticReplicas"));
      check(row, job, names, profiles);
      last = job.submitSeconds();
      jobs.add(job);
    }
    if (jobs.isEmpty()) {
      throw new TraceException("%s has no jobs".formatted(file));
    }
    String name = String.valueOf(file.getFileName());
    return new Workload(name.endsWith(".csv") ? name.substring(0, name.length() - 4) : name, jobs);
  }

  private static void check(CsvRow row, Job job, Set<String> names, Set<String> profiles)
      throws TraceException {
    if (!names.add(job.name())) {
      throw row.problem("name", "job '%s' appears twice".formatted(job.name()));
    }
    if (!profiles.contains(job.profile())) {
      throw row.problem(
          "profile",
          "there is no profile '%s'. Use one of: %s"
              .formatted(job.profile(), String.join(", ", profiles)));
    }
    if (job.maxReplicas() < job.minReplicas()) {
      throw row.problem(
          "maxReplicas",
          "%d is below minReplicas (%d)".formatted(job.maxReplicas(), job.minReplicas()));
    }
    if (job.staticReplicas() < job.minReplicas() || job.staticReplicas() > job.maxReplicas()) {
      throw row.problem(
          "staticReplicas",
          "%d must lie between minReplicas (%d) and maxReplicas (%d)"
              .formatted(job.staticReplicas(), job.minReplicas(), job.maxReplicas()));
    }
  }
}
