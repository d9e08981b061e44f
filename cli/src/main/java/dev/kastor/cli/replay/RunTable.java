package dev.kastor.cli.replay;

import dev.kastor.cli.terminal.Ink;
import dev.kastor.cli.terminal.Table;
import dev.kastor.simulator.bound.LowerBound;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.run.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Outcomes side by side, a block for each workload; JCT is job completion time. */
final class RunTable {
  private static final int TEXT_COLUMNS = 1;

  private final List<Outcome> outcomes;
  private final Map<String, LowerBound> bounds;

  RunTable(List<Outcome> outcomes) {
    this(outcomes, Map.of());
  }

  /** With the lower bounds of some workloads. */
  RunTable(List<Outcome> outcomes, Map<String, LowerBound> bounds) {
    this.outcomes = List.copyOf(outcomes);
    this.bounds = Map.copyOf(bounds);
  }

  List<String> lines() {
    boolean seeds = outcomes.stream().map(o -> o.run().seed()).distinct().count() > 1;
    List<String> lines = new ArrayList<>();
    for (String workload : outcomes.stream().map(o -> o.run().workload()).distinct().toList()) {
      Outcome first =
          outcomes.stream()
              .filter(o -> o.run().workload().equals(workload))
              .findFirst()
              .orElseThrow();
      lines.add(
          "%s: %d jobs on %s, mode %s%s"
              .formatted(
                  Ink.BOLD.on(workload),
                  first.replay().jobs().size(),
                  first.run().cluster(),
                  first.run().mode().label(),
                  seeds ? "" : ", seed " + first.run().seed()));
      if (!first.assumptions().isEmpty()) {
        lines.add("  " + first.assumptions());
      }
      boolean priced = first.run().cluster().priced();
      List<String> columns =
          new ArrayList<>(
              List.of(
                  "POLICY",
                  "MEAN JCT",
                  "P50",
                  "P90",
                  "P99",
                  "MAKESPAN",
                  "GPU-HOURS",
                  "RESTARTS",
                  "MOVES",
                  "WORST FTF",
                  "FTF>1",
                  "DECISION",
                  "CPU"));
      LowerBound bound = bounds.get(workload);
      if (bound != null) {
        columns.add("OVER BOUND");
      }
      if (priced) {
        columns.add("NODES COST");
        columns.add("JOBS COST");
        columns.add("PER JOB");
      }
      Table table = new Table(columns.toArray(String[]::new)).rightFrom(TEXT_COLUMNS);
      for (Outcome outcome : outcomes) {
        if (outcome.run().workload().equals(workload)) {
          List<String> row = new ArrayList<>(row(outcome, seeds));
          if (bound != null) {
            row.add(text("%.3f", outcome.replay().averageSeconds() / bound.meanSeconds()));
          }
          if (priced) {
            Replay replay = outcome.replay();
            row.add(text("%.2f", replay.nodeMoney()));
            row.add(text("%.2f", replay.jobMoney()));
            row.add(text("%.4f", replay.jobMoney() / replay.jobs().size()));
          }
          table.row(row);
        }
      }
      lines.addAll(table.lines());
      if (bound != null) {
        lines.add("  " + bound.text());
      }
      lines.add("");
    }
    return lines;
  }

  private static List<String> row(Outcome outcome, boolean seeds) {
    Replay replay = outcome.replay();
    return List.of(
        Ink.CYAN.on(replay.policy()) + (seeds ? " #" + replay.seed() : ""),
        seconds(replay.averageSeconds()),
        seconds(replay.percentileSeconds(50)),
        seconds(replay.percentileSeconds(90)),
        seconds(replay.percentileSeconds(99)),
        seconds(replay.makespanSeconds()),
        text("%.1f", replay.gpuHours()),
        Integer.toString(replay.restarts()),
        Integer.toString(replay.moves()),
        text("%.2f", outcome.fairness().worst()),
        text("%.0f%%", 100 * outcome.fairness().shareAboveOne()),
        text("%.2f ms", replay.decisions().mean()),
        text("%.2f s", replay.cpuSeconds()));
  }

  private static String seconds(double seconds) {
    return text("%.0f s", seconds);
  }

  private static String text(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }
}
