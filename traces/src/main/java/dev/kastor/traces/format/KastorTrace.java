package dev.kastor.traces.format;

import dev.kastor.traces.CsvRow;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Category;
import dev.kastor.traces.Workload.Outcome;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Kastor's own format, see {@link WorkloadFile}. */
final class KastorTrace implements TraceFormat {
  @Override
  public String name() {
    return "kastor";
  }

  @Override
  public String description() {
    return "Kastor's own workloads";
  }

  @Override
  public boolean recognises(TraceHead head) {
    List<String> columns = head.columns();
    return columns.contains("name") || columns.contains("submitSeconds");
  }

  @Override
  public boolean isLog() {
    return false;
  }

  @Override
  public void read(Path file, Sink sink) throws TraceException {
    CsvRow.forEach(file, WorkloadFile.REQUIRED, row -> sink.job(job(row), row));
  }

  private static Workload.Job job(CsvRow row) throws TraceException {
    double duration = row.isBlank("durationSeconds") ? 0 : row.atLeast("durationSeconds", 0);
    boolean timed = duration > 0;
    int requested = row.positive("requestedReplicas");
    // Nobody knows how a job scales of which only the duration is known: elastic if its row says
    // so.
    boolean rigid =
        timed
            && row.isBlank("category")
            && row.isBlank("minReplicas")
            && row.isBlank("maxReplicas");
    int least = rigid ? requested : 1;
    int most = rigid ? requested : Workload.UNBOUNDED;
    int min = row.isBlank("minReplicas") ? least : row.positive("minReplicas");
    int max = row.isBlank("maxReplicas") ? most : row.positive("maxReplicas");
    if (max < min) {
      throw row.problem("maxReplicas", "%d is below minReplicas (%d)".formatted(max, min));
    }
    if (requested < min || requested > max) {
      throw row.problem(
          "requestedReplicas",
          "%d must lie between minReplicas (%d) and maxReplicas (%s)"
              .formatted(requested, min, max == Workload.UNBOUNDED ? "no bound" : max));
    }
    return new Workload.Job(
        row.text("name"),
        row.atLeast("submitSeconds", 0),
        timed ? row.textOr("application", Workload.DURATION_ONLY) : row.text("application"),
        min,
        max,
        requested,
        row.isBlank("globalBatch") ? 0 : row.positive("globalBatch"),
        rigid ? Category.RIGID : category(row),
        duration,
        outcome(row),
        row.textOr("queue", ""),
        row.isBlank("priority") ? 0 : row.whole("priority"),
        row.isBlank("slotsPerReplica") ? 1 : row.positive("slotsPerReplica"));
  }

  /** What a scheduler may change about a job; everything where its row does not say. */
  static Category category(CsvRow row) throws TraceException {
    return switch (row.textOr("category", "adaptive")) {
      case "adaptive" -> Category.ADAPTIVE;
      case "scale-gpus" -> Category.SCALE_GPUS;
      case "rigid" -> Category.RIGID;
      case "restart" -> Category.RESTART;
      default ->
          throw row.problem(
              "category",
              "'%s' must be adaptive, scale-gpus, rigid or restart"
                  .formatted(row.text("category")));
    };
  }

  private static Outcome outcome(CsvRow row) throws TraceException {
    String text = row.textOr("outcome", "completed");
    for (Outcome outcome : Outcome.values()) {
      if (outcome.name().toLowerCase(Locale.ROOT).equals(text)) {
        return outcome;
      }
    }
    throw row.problem("outcome", "'%s' must be completed, failed or killed".formatted(text));
  }
}
