package dev.kastor.traces.format;

import dev.kastor.traces.CsvRow;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import java.nio.file.Path;
import java.util.List;

/** The workloads of the Pollux (OSDI 2021) and Sia (SOSP 2023) artifacts. */
final class ArtifactTrace implements TraceFormat {
  @Override
  public String name() {
    return "pollux";
  }

  @Override
  public String description() {
    return "workloads of the Pollux and Sia artifacts (OSDI 2021, SOSP 2023)";
  }

  @Override
  public boolean recognises(TraceHead head) {
    List<String> columns = head.columns();
    return columns.contains("name")
        && (columns.contains("time") || columns.contains("num_replicas"));
  }

  @Override
  public boolean isLog() {
    return false;
  }

  @Override
  public void read(Path file, Sink sink) throws TraceException {
    CsvRow.forEach(
        file,
        List.of("name", "time", "application", "num_replicas", "batch_size"),
        row ->
            sink.job(
                new Workload.Job(
                    row.text("name"),
                    row.atLeast("time", 0),
                    row.text("application"),
                    1,
                    Workload.UNBOUNDED,
                    row.positive("num_replicas"),
                    row.positive("batch_size"),
                    KastorTrace.category(row)),
                row));
  }
}
