package dev.kastor.traces.format;

import dev.kastor.traces.CsvRow;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * Alibaba's GPU cluster trace of 2020 (NSDI 2022), as cluster-trace-gpu-v2020 of the repository
 * alibaba/clusterdata describes it: {@code pai_task_table.csv}, which tells GPUs and run times, and
 * beside it {@code pai_job_table.csv}, which tells submissions and outcomes. Both come without a
 * header; one is skipped.
 *
 * <p>A job runs from the first start to the last end of its GPU tasks on all their GPUs. Shares of
 * a GPU are rounded up for each instance, since Kastor schedules whole ones. Without the job table
 * a job counts as submitted when its first task starts.
 */
final class AlibabaTrace implements TraceFormat {
  private static final String TASKS = "pai_task_table.csv";
  private static final String JOBS = "pai_job_table.csv";
  private static final List<String> TASK_COLUMNS =
      List.of(
          "job_name",
          "task_name",
          "inst_num",
          "status",
          "start_time",
          "end_time",
          "plan_cpu",
          "plan_mem",
          "plan_gpu",
          "gpu_type");
  private static final List<String> JOB_COLUMNS =
      List.of("job_name", "inst_id", "user", "status", "start_time", "end_time");

  private record Submission(double seconds, String status) {}

  /** A job's GPU tasks together. */
  private record Run(int gpus, double start, double end, boolean ended, String status, CsvRow row) {
    Run with(Run other) {
      return new Run(
          gpus + other.gpus,
          Math.min(start, other.start),
          Math.max(end, other.end),
          ended && other.ended,
          status.equals("Terminated") ? other.status : status,
          row);
    }
  }

  @Override
  public String name() {
    return "alibaba";
  }

  @Override
  public String description() {
    return "Alibaba cluster-trace-gpu-v2020, folder or pai_task_table.csv (NSDI 2022)";
  }

  @Override
  public boolean recognises(TraceHead head) {
    return table(head.file(), TASKS).isPresent()
        || head.isCalled(TASKS)
        || head.columns().containsAll(List.of("inst_num", "plan_gpu"));
  }

  @Override
  public boolean isLog() {
    return true;
  }

  @Override
  public void read(Path file, Sink sink) throws TraceException {
    Path tasks =
        Files.isDirectory(file)
            ? table(file, TASKS)
                .orElseThrow(() -> new TraceException("%s has no %s".formatted(file, TASKS)))
            : file;
    Path folder = Files.isDirectory(file) ? file : file.toAbsolutePath().getParent();
    Optional<Path> jobs = folder == null ? Optional.empty() : table(folder, JOBS);
    Map<String, Submission> submissions = jobs.isPresent() ? submissions(jobs.get()) : Map.of();
    SequencedMap<String, Run> runs = new LinkedHashMap<>();
    CsvRow.forEachWithoutHeader(
        tasks,
        TASK_COLUMNS,
        row -> {
          if (!row.isBlank("plan_gpu") && row.atLeast("plan_gpu", 0) > 0) {
            runs.merge(row.text("job_name"), run(row), Run::with);
          }
        });
    for (Map.Entry<String, Run> entry : runs.entrySet()) {
      Run run = entry.getValue();
      Submission submission =
          submissions.getOrDefault(entry.getKey(), new Submission(run.start(), run.status()));
      if (!run.ended()) {
        sink.skip("still running, or without times");
      } else if (!(run.end() > run.start())) {
        sink.skip("never ran");
      } else {
        sink.job(
            Workload.Job.timed(
                entry.getKey(),
                submission.seconds(),
                run.gpus(),
                run.end() - run.start(),
                submission.status().equals("Failed") ? Outcome.FAILED : Outcome.COMPLETED),
            run.row());
      }
    }
  }

  private static Run run(CsvRow row) throws TraceException {
    boolean timed = !row.isBlank("start_time") && !row.isBlank("end_time");
    double instances = row.isBlank("inst_num") ? 1 : row.atLeast("inst_num", 0);
    double each = Math.ceil(row.atLeast("plan_gpu", 0) / 100);
    return new Run(
        (int) (instances * each),
        timed ? row.atLeast("start_time", 0) : Double.POSITIVE_INFINITY,
        timed ? row.atLeast("end_time", 0) : 0,
        timed,
        row.textOr("status", ""),
        row);
  }

  private static Map<String, Submission> submissions(Path file) throws TraceException {
    Map<String, Submission> submissions = new HashMap<>();
    CsvRow.forEachWithoutHeader(
        file,
        JOB_COLUMNS,
        row -> {
          if (!row.isBlank("start_time")) {
            submissions.put(
                row.text("job_name"),
                new Submission(row.atLeast("start_time", 0), row.textOr("status", "")));
          }
        });
    return submissions;
  }

  private static Optional<Path> table(Path folder, String name) {
    for (String candidate : List.of(name, name + ".gz")) {
      Path file = folder.resolve(candidate);
      if (Files.isRegularFile(file)) {
        return Optional.of(file);
      }
    }
    return Optional.empty();
  }
}
