package dev.kastor.traces.format;

import dev.kastor.traces.Workload;
import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Kastor's own workload format: a CSV file with a row for each job, by rising submission time.
 *
 * <p>A job names an application, or gives its duration on the requested replicas where nothing else
 * is known. Empty cells take the default: one replica at least, no bound but the application's, its
 * initial batch, adaptive, completed, no queue, priority 0, one slot per replica.
 */
public final class WorkloadFile {
  static final List<String> REQUIRED = List.of("name", "submitSeconds", "requestedReplicas");

  static final List<String> COLUMNS =
      List.of(
          "name",
          "submitSeconds",
          "application",
          "minReplicas",
          "maxReplicas",
          "requestedReplicas",
          "globalBatch",
          "category",
          "durationSeconds",
          "outcome");

  /** Written only where a job has them. */
  private static final List<String> QUEUE_COLUMNS = List.of("queue", "priority");

  private static final List<String> SIZE_COLUMNS = List.of("slotsPerReplica");

  private WorkloadFile() {}

  /** All columns that a workload may have. */
  static List<String> allColumns() {
    return Stream.of(COLUMNS, QUEUE_COLUMNS, SIZE_COLUMNS).flatMap(List::stream).toList();
  }

  /**
   * The file's text.
   *
   * @param comment lines to put above the header, without {@code #}
   */
  public static String text(List<String> comment, Workload workload) {
    StringBuilder text = new StringBuilder();
    comment.forEach(line -> text.append("# ").append(line).append('\n'));
    boolean queued =
        workload.jobs().stream().anyMatch(j -> !j.queue().isEmpty() || j.priority() != 0);
    text.append(String.join(",", COLUMNS));
    if (queued) {
      text.append(',').append(String.join(",", QUEUE_COLUMNS));
    }
    boolean sized = workload.jobs().stream().anyMatch(j -> j.slotsPerReplica() > 1);
    if (sized) {
      text.append(',').append(String.join(",", SIZE_COLUMNS));
    }
    text.append('\n');
    for (Workload.Job job : workload.jobs()) {
      boolean timed = job.durationSeconds() > 0;
      text.append(
          String.join(
              ",",
              cell(job.name()),
              number(job.submitSeconds()),
              timed && job.application().equals(Workload.DURATION_ONLY)
                  ? ""
                  : cell(job.application()),
              Integer.toString(job.minReplicas()),
              job.maxReplicas() == Workload.UNBOUNDED ? "" : Integer.toString(job.maxReplicas()),
              Integer.toString(job.requestedReplicas()),
              job.globalBatch() == 0 ? "" : Integer.toString(job.globalBatch()),
              category(job.category()),
              timed ? number(job.durationSeconds()) : "",
              job.outcome().name().toLowerCase(Locale.ROOT)));
      if (queued) {
        text.append(',').append(job.queue().isEmpty() ? "" : cell(job.queue()));
        text.append(',').append(job.priority());
      }
      if (sized) {
        text.append(',').append(job.slotsPerReplica());
      }
      text.append('\n');
    }
    return text.toString();
  }

  private static String category(Workload.Category category) {
    return switch (category) {
      case ADAPTIVE -> "adaptive";
      case SCALE_GPUS -> "scale-gpus";
      case RIGID -> "rigid";
      case RESTART -> "restart";
    };
  }

  private static String number(double value) {
    BigDecimal exact = BigDecimal.valueOf(value).stripTrailingZeros();
    return exact.toPlainString();
  }

  private static String cell(String text) {
    return text.matches("[^,\"\\s#]+") ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
