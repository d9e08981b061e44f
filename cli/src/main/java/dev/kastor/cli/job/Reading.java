package dev.kastor.cli.job;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.connect.OperatorAway;
import dev.kastor.cli.connect.OperatorPage;
import dev.kastor.cli.terminal.Output;
import dev.kastor.cli.terminal.Paper;
import dev.kastor.cli.terminal.Table;
import dev.kastor.cli.view.EventView;
import dev.kastor.cli.view.JobView;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.training.ServerChoice;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The commands that only look. */
public final class Reading {
  /** Columns that narrow terminals go without: rescales, then loss, then the reason. */
  private static final int[] OPTIONAL = {7, 6, 10};

  private final ClusterOptions options;
  private final PrintWriter out;

  Reading(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  void list(boolean all, @Nullable String selector, Output output) {
    try (Cluster cluster = Cluster.connect(options)) {
      List<JobView> jobs =
          cluster.jobs(all ? null : options.namespace(), selector).stream()
              .sorted(
                  Comparator.comparing((TrainingJob j) -> j.getMetadata().getCreationTimestamp())
                      .thenComparing(j -> j.getMetadata().getName()))
              .map(JobView::of)
              .toList();
      switch (output) {
        case JSON, YAML -> output.print(Map.of("jobs", jobs, "advice", cluster.advice()), out);
        case NAME -> jobs.forEach(j -> out.println(j.resource()));
        case TABLE, WIDE -> {
          if (jobs.isEmpty()) {
            out.println(
                selector == null
                    ? "no jobs. Submit one with: kastor submit examples/glyph-mlp.yaml"
                    : "no jobs with " + selector);
          } else {
            boolean wide = output == Output.WIDE;
            table(jobs, wide, all, Instant.now(), wide ? Paper.ENDLESS : Paper.width())
                .forEach(out::println);
            cluster.advice().forEach(sentence -> out.println("advice: " + sentence));
          }
        }
      }
      out.flush();
    }
  }

  public static List<String> table(List<JobView> jobs, Instant now) {
    return table(jobs, false, false, now, Paper.width());
  }

  static List<String> table(
      List<JobView> jobs, boolean wide, boolean namespaces, Instant now, int paper) {
    List<String> header = new ArrayList<>(JobView.HEADER);
    if (wide) {
      header.addAll(JobView.MORE_HEADER);
    }
    if (namespaces) {
      header.addFirst("NAMESPACE");
    }
    Table table = new Table(header.toArray(String[]::new)).shorten(namespaces ? 1 : 0);
    for (int column : OPTIONAL) {
      table.optional(column + (namespaces ? 1 : 0));
    }
    for (JobView job : jobs) {
      List<String> cells = new ArrayList<>();
      if (namespaces) {
        cells.add(job.namespace());
      }
      cells.addAll(job.cells(now));
      if (wide) {
        cells.addAll(job.moreCells());
      }
      table.row(cells);
    }
    return table.lines(paper);
  }

  void get(String name, GetCommand.Output output) {
    try (Cluster cluster = Cluster.connect(options)) {
      var job = cluster.raw(options.namespace(), name);
      switch (output) {
        case YAML -> Output.YAML.print(job, out);
        case JSON -> Output.JSON.print(job, out);
      }
      out.flush();
    }
  }

  /**
   * The operator's words on a job's parameter servers; a missing node for a job without servers.
   */
  private JsonNode served(Cluster cluster, TrainingJob job) {
    if (!hasServers(job)) {
      return MissingNode.getInstance();
    }
    try (OperatorPage page = OperatorPage.open(cluster, options)) {
      return page.json(
              "/api/v1/jobs/%s/%s/history"
                  .formatted(options.namespace(), job.getMetadata().getName()))
          .map(history -> history.path("servers"))
          .orElse(MissingNode.getInstance());
    } catch (OperatorAway e) {
      // All else of the description is in the cluster.
      return MissingNode.getInstance();
    }
  }

  private static boolean hasServers(TrainingJob job) {
    try {
      return ServerChoice.of(job.getSpec().training()).isPresent();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  void describe(String name, Output output) {
    try (Cluster cluster = Cluster.connect(options)) {
      TrainingJob job = cluster.get(options.namespace(), name);
      List<EventView> events = cluster.eventsOf(job);
      switch (output) {
        case JSON, YAML ->
            output.print(
                Map.of("job", cluster.raw(options.namespace(), name), "events", events), out);
        case NAME -> out.println(JobView.of(job).resource());
        case TABLE, WIDE ->
            new Description(
                    job,
                    cluster.pods(options.namespace(), name),
                    served(cluster, job),
                    events,
                    Instant.now(),
                    output == Output.WIDE ? Paper.ENDLESS : Paper.width())
                .lines()
                .forEach(out::println);
      }
      out.flush();
    }
  }
}
