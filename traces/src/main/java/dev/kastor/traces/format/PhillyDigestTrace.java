package dev.kastor.traces.format;

import dev.kastor.traces.CsvRow;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import java.nio.file.Path;
import java.util.List;

/**
 * The digest of Microsoft's Philly log in Pollux's artifact (OSDI 2021): a row for each job that
 * ran, without its outcome.
 */
final class PhillyDigestTrace implements TraceFormat {
  @Override
  public String name() {
    return "philly-csv";
  }

  @Override
  public String description() {
    return "digest of Philly in Pollux's artifact (OSDI 2021)";
  }

  @Override
  public boolean recognises(TraceHead head) {
    return head.columns().contains("timestamp") && head.columns().contains("num_gpus");
  }

  @Override
  public boolean isLog() {
    return true;
  }

  @Override
  public void read(Path file, Sink sink) throws TraceException {
    int[] rows = {0};
    CsvRow.forEach(
        file,
        List.of("timestamp", "duration", "num_gpus"),
        row -> {
          String name = "job-" + ++rows[0];
          double submitted = LogTime.seconds(row.text("timestamp"), "timestamp", row);
          double duration = row.atLeast("duration", 0);
          int gpus = row.count("num_gpus");
          if (gpus == 0 || duration == 0) {
            sink.skip("never ran");
          } else {
            sink.job(
                Workload.Job.timed(name, submitted, gpus, duration, Workload.Outcome.COMPLETED),
                row);
          }
        });
  }
}
