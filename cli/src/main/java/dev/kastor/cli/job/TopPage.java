package dev.kastor.cli.job;

import dev.kastor.cli.terminal.Ink;
import dev.kastor.cli.view.JobView;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Rows of the live table that fit a terminal.
 *
 * @param jobs all jobs
 * @param advice sentences on the number of nodes
 * @param order of the jobs
 * @param first index of the first job that is shown
 * @param rows of the terminal
 * @param columns of the terminal
 * @param now the present
 */
record TopPage(
    List<JobView> jobs,
    List<String> advice,
    Order order,
    int first,
    int rows,
    int columns,
    Instant now) {
  /** Order of the jobs; those that do not run come behind those that do. */
  enum Order {
    PHASE,
    GOODPUT,
    DONE,
    NEWEST;

    private static final List<String> PHASES =
        List.of("Running", "Starting", "Queued", "New", "Suspended", "Failed", "Succeeded");

    Order next() {
      return switch (this) {
        case PHASE -> GOODPUT;
        case GOODPUT -> DONE;
        case DONE -> NEWEST;
        case NEWEST -> PHASE;
      };
    }

    private Comparator<JobView> comparator() {
      return Comparator.comparingInt((JobView job) -> PHASES.indexOf(job.phase()))
          .thenComparing(within())
          .thenComparing(JobView::name);
    }

    private Comparator<JobView> within() {
      return switch (this) {
        case PHASE -> Comparator.comparing(JobView::name);
        case GOODPUT ->
            Comparator.comparingDouble(job -> job.goodput() == null ? 0 : -job.goodput());
        case DONE -> Comparator.comparingInt(job -> job.percent() == null ? 0 : -job.percent());
        case NEWEST ->
            Comparator.comparing(
                job -> job.created() == null ? "" : job.created(), Comparator.reverseOrder());
      };
    }
  }

  /** Rows beside those of jobs: the head, the header and what else there is. */
  private int around() {
    return 2 + advice.size();
  }

  /** Jobs that fit. */
  int page() {
    return Math.max(1, rows - around() - 1);
  }

  /** The same with the first job moved by so many, as far as there are jobs. */
  TopPage moved(int by) {
    int most = Math.max(0, jobs.size() - page());
    return new TopPage(
        jobs, advice, order, Math.clamp((long) first + by, 0, most), rows, columns, now);
  }

  /** The same in another order, from its beginning. */
  TopPage sorted(Order by) {
    return new TopPage(jobs, advice, by, 0, rows, columns, now);
  }

  /** At most as many lines as the terminal has rows, but for one that is left to the cursor. */
  List<String> lines() {
    List<JobView> sorted = jobs.stream().sorted(order.comparator()).toList();
    int from = moved(0).first();
    List<JobView> shown = sorted.subList(from, Math.min(sorted.size(), from + page()));
    List<String> lines = new ArrayList<>();
    lines.add(head(from, shown.size()));
    lines.addAll(Reading.table(shown, false, false, now, columns));
    advice.forEach(sentence -> lines.add("advice: " + sentence));
    return lines;
  }

  private String head(int from, int shown) {
    long running = jobs.stream().filter(job -> job.phase().equals("Running")).count();
    int replicas = jobs.stream().filter(job -> !job.ended()).mapToInt(JobView::replicas).sum();
    int slots = jobs.stream().filter(job -> !job.ended()).mapToInt(JobView::slots).sum();
    String held = slots == replicas ? "" : " on %d GPUs".formatted(slots);
    String part = shown == jobs.size() ? "" : ", %d to %d shown".formatted(from + 1, from + shown);
    return "%d jobs, %d running, %d replicas%s%s   %s"
        .formatted(
            jobs.size(),
            running,
            replicas,
            held,
            part,
            Ink.DIM.on(
                "by %s (s), scroll (arrows), quit (q)"
                    .formatted(order.name().toLowerCase(Locale.ROOT))));
  }
}
