package dev.kastor.cli.trace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Table;
import dev.kastor.traces.describe.TraceSummary;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor trace describe}. */
@Command(
    name = "describe",
    description = "Sums up a trace: jobs, sizes, durations, arrivals and outcomes.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor trace describe traces/workloads/mixed-40.csv",
      "  kastor trace describe cluster_job_log --format philly --json"
    })
final class TraceDescribeCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private TraceSource source = new TraceSource();

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  @Override
  public Integer call() throws JsonProcessingException {
    TraceSummary summary = TraceSummary.of(source.read());
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(summary));
    } else {
      table(summary).lines().forEach(out::println);
    }
    out.flush();
    return ExitCode.OK;
  }

  private static Table table(TraceSummary summary) {
    Table table = new Table("trace", summary.workload());
    row(table, "format", summary.format());
    row(table, "jobs", Integer.toString(summary.jobs()));
    if (!summary.skipped().isEmpty()) {
      row(table, "skipped", counts(summary.skipped()));
    }
    row(table, "span", "%.1f h".formatted(summary.spanHours()));
    row(
        table,
        "arrivals",
        "%.1f an hour, %d in the fullest"
            .formatted(summary.meanArrivalsPerHour(), summary.peakArrivalsPerHour()));
    row(
        table,
        "replicas",
        "%.2f on average; jobs by replicas: %s"
            .formatted(summary.meanReplicas(), counts(summary.jobsByReplicas())));
    row(table, "applications", counts(summary.jobsByApplication()));
    if (!summary.durationSeconds().isEmpty()) {
      row(
          table,
          "durations",
          summary.durationSeconds().entrySet().stream()
              .map(entry -> entry.getKey() + " " + duration(entry.getValue()))
              .collect(Collectors.joining(", ")));
      row(table, "GPU time", "%.1f GPU-hours".formatted(summary.gpuHours()));
      row(table, "outcomes", counts(summary.jobsByOutcome()));
    }
    return table;
  }

  private static void row(Table table, String name, String value) {
    table.row(List.of(name, value));
  }

  private static String duration(double seconds) {
    return Format.duration(Duration.ofSeconds(Math.round(seconds)));
  }

  private static String counts(Map<?, Integer> counts) {
    return counts.entrySet().stream()
        .map(entry -> String.format(Locale.ROOT, "%s %d", entry.getKey(), entry.getValue()))
        .collect(Collectors.joining(", "));
  }
}
