package dev.kastor.cli.job;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.cli.terminal.Screen;
import dev.kastor.cli.view.JobView;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The live table. */
final class Top {
  private static final long MILLIS = 1000;

  private final ClusterOptions options;
  private final PrintWriter out;

  Top(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  void run(double intervalSeconds, boolean once) throws InterruptedException {
    if (!(intervalSeconds > 0)) {
      throw new CliException(ExitCode.USAGE, "--interval must be above 0");
    }
    try (Cluster cluster = Cluster.connect(options)) {
      Screen screen = new Screen(out, Ink.watched() && !once);
      do {
        screen.show(lines(cluster));
        if (once) {
          return;
        }
        Thread.sleep(Duration.ofMillis(Math.round(intervalSeconds * MILLIS)));
      } while (true);
    }
  }

  private List<String> lines(Cluster cluster) {
    Instant now = Instant.now();
    List<JobView> jobs =
        cluster.jobs(null).stream()
            .map(JobView::of)
            .sorted(Comparator.comparing(JobView::ended).thenComparing(JobView::name))
            .toList();
    int replicas = jobs.stream().filter(j -> !j.ended()).mapToInt(JobView::replicas).sum();
    int slots = jobs.stream().filter(j -> !j.ended()).mapToInt(JobView::slots).sum();
    List<String> lines = new ArrayList<>();
    String held = slots == replicas ? "" : " on %d GPUs".formatted(slots);
    lines.add("%d jobs, %d replicas%s".formatted(jobs.size(), replicas, held));
    lines.addAll(Reading.table(jobs, now));
    cluster.advice().forEach(sentence -> lines.add("advice: " + sentence));
    return lines;
  }
}
