package dev.kastor.traces.format;

import dev.kastor.traces.CsvRow;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Outcome;
import java.nio.file.Path;
import java.util.List;

/**
 * {@code cluster_log.csv} of SenseTime's Helios clusters (SC 2021), as the repository
 * S-Lab-System-Group/HeliosData describes it. Slurm's {@code TIMEOUT} and {@code NODE_FAIL} count
 * as failures, as in the study. Jobs without GPUs are skipped.
 */
final class HeliosTrace implements TraceFormat {
  private static final List<String> COLUMNS =
      List.of("job_id", "gpu_num", "state", "submit_time", "duration");

  @Override
  public String name() {
    return "helios";
  }

  @Override
  public String description() {
    return "Helios cluster_log.csv (SenseTime, SC 2021)";
  }

  @Override
  public boolean recognises(TraceHead head) {
    return head.columns().contains("job_id") && head.columns().contains("gpu_num");
  }

  @Override
  public boolean isLog() {
    return true;
  }

  @Override
  public void read(Path file, Sink sink) throws TraceException {
    CsvRow.forEach(
        file,
        COLUMNS,
        row -> {
          String state = row.text("state");
          int gpus = row.count("gpu_num");
          double submitted = LogTime.seconds(row.text("submit_time"), "submit_time", row);
          double duration = row.atLeast("duration", 0);
          if (gpus == 0) {
            sink.skip("without GPUs");
          } else if (duration == 0) {
            sink.skip("never ran");
          } else {
            sink.job(
                Workload.Job.timed(
                    row.text("job_id"), submitted, gpus, duration, outcome(state, row)),
                row);
          }
        });
  }

  private static Outcome outcome(String state, CsvRow row) throws TraceException {
    return switch (state) {
      case "COMPLETED" -> Outcome.COMPLETED;
      case "CANCELLED" -> Outcome.KILLED;
      case "FAILED", "TIMEOUT", "NODE_FAIL", "SUSPENDED" -> Outcome.FAILED;
      default ->
          throw row.problem(
              "state",
              "'%s' must be COMPLETED, CANCELLED, FAILED, TIMEOUT, NODE_FAIL or SUSPENDED"
                  .formatted(state));
    };
  }
}
