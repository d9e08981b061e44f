package dev.kastor.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.connect.OperatorAway;
import dev.kastor.cli.connect.OperatorPage;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Output;
import dev.kastor.cli.terminal.Paper;
import dev.kastor.cli.terminal.Table;
import dev.kastor.cli.view.EventView;
import dev.kastor.cli.view.JobView;
import dev.kastor.crds.trainingjob.TrainingJob;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What was. */
final class History {
  private final ClusterOptions options;
  private final PrintWriter out;
  private final PrintWriter err;

  History(ClusterOptions options, PrintWriter out, PrintWriter err) {
    this.options = options;
    this.out = out;
    this.err = err;
  }

  /** Jobs that ended, the newest last. */
  void ended(boolean all, Output output) {
    try (Cluster cluster = Cluster.connect(options)) {
      List<EndedView> jobs =
          cluster.jobs(all ? null : options.namespace()).stream()
              .filter(job -> JobView.of(job).ended())
              .map(EndedView::of)
              .sorted(
                  Comparator.comparing(
                          (EndedView job) -> Format.instant(job.ended()).orElse(Instant.EPOCH))
                      .thenComparing(EndedView::name))
              .toList();
      switch (output) {
        case JSON, YAML -> output.print(Map.of("jobs", jobs), out);
        case NAME -> jobs.forEach(j -> out.println("trainingjob.kastor.dev/" + j.name()));
        case TABLE, WIDE -> {
          if (jobs.isEmpty()) {
            out.println("no job has ended. See what runs with: kastor ls");
          } else {
            table(jobs, all, Instant.now(), output == Output.WIDE ? Paper.ENDLESS : Paper.width())
                .forEach(out::println);
          }
        }
      }
      out.flush();
    }
  }

  static List<String> table(List<EndedView> jobs, boolean namespaces, Instant now, int paper) {
    Stream<String> header = Stream.of(EndedView.HEADER);
    Table table =
        new Table(
            (namespaces ? Stream.concat(Stream.of("NAMESPACE"), header) : header)
                .toArray(String[]::new));
    // Narrow terminals go without restarts, then rescales.
    table.optional(namespaces ? 8 : 7, namespaces ? 7 : 6);
    for (EndedView job : jobs) {
      List<String> cells = new ArrayList<>(job.cells(now));
      if (namespaces) {
        cells.addFirst(job.namespace());
      }
      table.row(cells);
    }
    return table.lines(paper);
  }

  /** One job's stretches, oldest first. */
  void of(String name, Output output) {
    try (Cluster cluster = Cluster.connect(options)) {
      TrainingJob job = cluster.get(options.namespace(), name);
      JobView view = JobView.of(job);
      if (output == Output.NAME) {
        out.println(view.resource());
        out.flush();
        return;
      }
      List<Stretch> stretches = new ArrayList<>();
      String away = null;
      try (OperatorPage page = OperatorPage.open(cluster, options)) {
        Optional<JsonNode> told =
            page.json("/api/v1/jobs/%s/%s/history".formatted(options.namespace(), name));
        told.map(Stretch::of).ifPresent(stretches::addAll);
      } catch (OperatorAway e) {
        away = e.getMessage();
      }
      List<EventView> events =
          cluster.eventsOf(job).stream().filter(e -> e.kind().equals("TrainingJob")).toList();
      if (output.document()) {
        output.print(Map.of("job", view, "stretches", stretches, "events", events), out);
      } else {
        show(stretches, events, away, output);
      }
      out.flush();
    }
  }

  private void show(
      List<Stretch> stretches, List<EventView> events, @Nullable String away, Output output) {
    int paper = output == Output.WIDE ? Paper.ENDLESS : Paper.width();
    if (away != null) {
      err.println("kastor: events alone: " + away);
      err.flush();
    }
    if (!stretches.isEmpty()) {
      stretches(stretches, Instant.now(), paper).forEach(out::println);
    } else if (events.isEmpty()) {
      out.println("nothing is known of its past");
    } else {
      Events.table(events, false, Instant.now(), paper).forEach(out::println);
    }
  }

  static List<String> stretches(List<Stretch> stretches, Instant now, int paper) {
    // Narrow terminals go without nodes, then loss, then efficiency.
    Table table = new Table(Stretch.HEADER).optional(7, 6, 5);
    stretches.forEach(stretch -> table.row(stretch.cells(now)));
    return table.lines(paper);
  }
}
