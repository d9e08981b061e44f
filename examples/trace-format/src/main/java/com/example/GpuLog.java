package com.example;

import dev.kastor.traces.CsvRow;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.format.TraceFormat;
import dev.kastor.traces.format.TraceHead;
import java.nio.file.Path;
import java.util.List;

/** Log of a cluster: a table with {@code id,submitted,gpus,seconds}. */
public final class GpuLog implements TraceFormat {
  @Override
  public String name() {
    return "gpu-log";
  }

  @Override
  public String description() {
    return "job log of the example cluster";
  }

  @Override
  public boolean recognises(TraceHead head) {
    return head.columns().contains("submitted") && head.columns().contains("gpus");
  }

  @Override
  public boolean isLog() {
    return true;
  }

  @Override
  public void read(Path file, Sink sink) throws TraceException {
    CsvRow.forEach(
        file,
        List.of("id", "submitted", "gpus", "seconds"),
        row -> {
          int gpus = row.count("gpus");
          double seconds = row.atLeast("seconds", 0);
          if (gpus == 0 || seconds == 0) {
            sink.skip("without GPU time");
          } else {
            double submitted = row.atLeast("submitted", 0);
            sink.job(
                Workload.Job.timed(
                    row.text("id"), submitted, gpus, seconds, Workload.Outcome.COMPLETED),
                row);
          }
        });
  }
}
