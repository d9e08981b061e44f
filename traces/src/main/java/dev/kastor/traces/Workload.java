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
  /** What a scheduler may change about a job. */
  public enum Category {
    /** Size and batch. */
    ADAPTIVE,

    /** The size; the global batch is the one asked for. */
    SCALE_GPUS,

    /** Nothing. */
    RIGID
  }

  /** How a job ended where its trace was taken; a replay runs its work whichever it was. */
  public enum Outcome {
    COMPLETED,

    /** By an error. */
    FAILED,

    /** By its owner or the cluster. */
    KILLED
  }

  /** The application of jobs of which only their duration is known. */
  public static final String DURATION_ONLY = "duration";

  /** No upper bound beyond the application's own. */
  public static final int UNBOUNDED = Integer.MAX_VALUE;

  /**
   * One submission.
   *
   * @param name unique in the workload
   * @param submitSeconds from the start of the replay
   * @param application name of its {@link Application}
   * @param minReplicas fewest replicas
   * @param maxReplicas most replicas; {@link #UNBOUNDED} to leave that to the application
   * @param requestedReplicas what its owner would have typed on a cluster without elasticity
   * @param globalBatch the global batch its owner would have typed; 0 for the application's initial
   * @param category what a scheduler may change
   * @param durationSeconds how long it ran on the requested replicas; 0 where its application says
   *     how much work it is
   * @param outcome how it ended where its trace was taken
   */
  public record Job(
      String name,
      double submitSeconds,
      String application,
      int minReplicas,
      int maxReplicas,
      int requestedReplicas,
      int globalBatch,
      Category category,
      double durationSeconds,
      Outcome outcome) {
    /** A job whose application says how much work it is. */
    public Job(
        String name,
        double submitSeconds,
        String application,
        int minReplicas,
        int maxReplicas,
        int requestedReplicas,
        int globalBatch,
        Category category) {
      this(
          name,
          submitSeconds,
          application,
          minReplicas,
          maxReplicas,
          requestedReplicas,
          globalBatch,
          category,
          0,
          Outcome.COMPLETED);
    }

    /** A rigid job of which only its size and duration are known. */
    public static Job timed(
        String name, double submitSeconds, int replicas, double durationSeconds, Outcome outcome) {
      return new Job(
          name,
          submitSeconds,
          DURATION_ONLY,
          replicas,
          replicas,
          replicas,
          0,
          Category.RIGID,
          durationSeconds,
          outcome);
    }
  }

  public Workload {
    jobs = List.copyOf(jobs);
  }

  /**
   * Reads a CSV file whose jobs use only the given applications. The header tells the format:
   * Kastor's own, or the one of the Pollux and Sia artifacts.
   */
  public static Workload read(Path file, Set<String> applications) throws TraceException {
    List<Job> jobs = new ArrayList<>();
    Set<String> names = new HashSet<>();
    double last = 0;
    for (CsvRow row : CsvRow.readAtLeast(file, List.of("name"))) {
      Job job = row.has("submitSeconds") ? own(row) : published(row);
      if (job.submitSeconds() < last) {
        throw row.problem(
            row.has("submitSeconds") ? "submitSeconds" : "time",
            "%s is before the line above (%s). Sort the rows by submission time."
                .formatted(job.submitSeconds(), last));
      }
      check(row, job, names, applications);
      last = job.submitSeconds();
      jobs.add(job);
    }
    if (jobs.isEmpty()) {
      throw new TraceException("%s has no jobs".formatted(file));
    }
    String name = String.valueOf(file.getFileName());
    return new Workload(name.endsWith(".csv") ? name.substring(0, name.length() - 4) : name, jobs);
  }

  private static Job own(CsvRow row) throws TraceException {
    return new Job(
        row.text("name"),
        row.atLeast("submitSeconds", 0),
        row.text("profile"),
        row.positive("minReplicas"),
        row.positive("maxReplicas"),
        row.positive("staticReplicas"),
        0,
        Category.ADAPTIVE);
  }

  private static Job published(CsvRow row) throws TraceException {
    return new Job(
        row.text("name"),
        row.atLeast("time", 0),
        row.text("application"),
        1,
        UNBOUNDED,
        row.positive("num_replicas"),
        row.positive("batch_size"),
        row.has("category") ? category(row) : Category.ADAPTIVE);
  }

  private static Category category(CsvRow row) throws TraceException {
    return switch (row.text("category")) {
      case "adaptive" -> Category.ADAPTIVE;
      case "scale-gpus" -> Category.SCALE_GPUS;
      case "rigid" -> Category.RIGID;
      default ->
          throw row.problem(
              "category",
              "'%s' must be adaptive, scale-gpus or rigid".formatted(row.text("category")));
    };
  }

  private static void check(CsvRow row, Job job, Set<String> names, Set<String> applications)
      throws TraceException {
    if (!names.add(job.name())) {
      throw row.problem("name", "job '%s' appears twice".formatted(job.name()));
    }
    if (!applications.contains(job.application())) {
      throw row.problem(
          row.has("profile") ? "profile" : "application",
          "there is no application '%s'. Use one of: %s"
              .formatted(job.application(), String.join(", ", applications)));
    }
    if (job.maxReplicas() < job.minReplicas()) {
      throw row.problem(
          "maxReplicas",
          "%d is below minReplicas (%d)".formatted(job.maxReplicas(), job.minReplicas()));
    }
    if (job.requestedReplicas() < job.minReplicas()
        || job.requestedReplicas() > job.maxReplicas()) {
      throw row.problem(
          "staticReplicas",
          "%d must lie between minReplicas (%d) and maxReplicas (%d)"
              .formatted(job.requestedReplicas(), job.minReplicas(), job.maxReplicas()));
    }
  }
}
