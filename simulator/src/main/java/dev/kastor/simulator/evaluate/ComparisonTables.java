package dev.kastor.simulator.evaluate;

import dev.kastor.simulator.bound.LowerBound;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** Kastor's own policy beside the published one: a table of all sets, then one of each. */
final class ComparisonTables {
  private final Evaluation evaluation;
  private final Markdown text;
  private final Bounds bounds;

  ComparisonTables(Evaluation evaluation, Markdown text) {
    this.evaluation = evaluation;
    this.text = text;
    bounds = evaluation.bounds();
  }

  void write(List<WorkloadSet> sets) {
    text.heading("Comparison");
    text.paragraph(
        "In brackets: over the published policy's on the same workloads. Percentiles are means over"
            + " the workloads, the worst ratio is the largest."
            + (bounds.isEmpty()
                ? ""
                : " Over bound: over a mean completion time below which no schedule can come. The"
                    + " schedule of the bound knows all jobs, packs perfectly and pays no pause:"
                    + " the best such schedule lies between."));
    var _ = header("set", "policy", "mean JCT, s", "worst workload", "p50", "p90", "p99");
    for (WorkloadSet set : sets) {
      for (Contender contender : evaluation.contenders(Part.COMPARISON, set)) {
        Figures own = evaluation.of(set, contender);
        Figures base = evaluation.of(set, Contender.baseline(set.mode()));
        List<String> cells = new ArrayList<>(List.of(set.name(), contender.name()));
        cells.addAll(seconds(own, base));
        cells.add(3, "(%s)".formatted(Markdown.ratio(worstWorkload(set, contender))));
        cells.addAll(rest(own, bounds.meanSeconds(set)));
        evaluation.failure(set, contender).ifPresent(why -> cells.set(2, why));
        text.row(cells);
      }
    }
    sets.forEach(this::each);
  }

  private void each(WorkloadSet set) {
    text.paragraph(
        "%s: %s on %s, mode %s"
            .formatted(
                set.name(),
                set.workloads().size() == 1
                    ? "one workload"
                    : set.workloads().size() + " workloads",
                set.cluster(),
                set.mode().label()));
    int columns = header("workload", "policy", "mean JCT, s", "p50", "p90", "p99");
    for (String workload : set.workloads()) {
      Optional<LowerBound> bound = bounds.of(set, workload);
      Figures base = evaluation.of(set, Contender.baseline(set.mode()), workload);
      for (Contender contender : evaluation.contenders(Part.COMPARISON, set)) {
        Figures own = evaluation.of(set, contender, workload);
        List<String> cells = new ArrayList<>(List.of(name(workload), contender.name()));
        cells.addAll(seconds(own, base));
        cells.addAll(rest(own, bound.map(LowerBound::meanSeconds).orElse(Double.NaN)));
        evaluation.failure(set, contender, workload).ifPresent(why -> cells.set(2, why));
        text.row(cells);
      }
      bound.ifPresent(below -> {
        text.row(row(workload, "lower bound", below.meanSeconds(), columns));
        below
            .reachedSeconds()
            .ifPresent(
                seconds -> text.row(row(workload, "schedule of the bound", seconds, columns)));
      });
    }
  }

  /** Writes a header with the columns that all tables end with; how many it has. */
  private int header(String... first) {
    List<String> titles = new ArrayList<>(List.of(first));
    titles.addAll(List.of("restarts", "FTF > 1", "worst FTF"));
    if (!bounds.isEmpty()) {
      titles.add("over bound");
    }
    text.row(titles);
    text.ruler(2, titles.size() - 2);
    return titles.size();
  }

  private static List<String> row(String workload, String what, double seconds, int columns) {
    List<String> cells = new ArrayList<>(List.of(name(workload), what, Markdown.seconds(seconds)));
    cells.addAll(Collections.nCopies(columns - cells.size(), Markdown.seconds(Double.NaN)));
    return cells;
  }

  private double worstWorkload(WorkloadSet set, Contender contender) {
    Contender baseline = Contender.baseline(set.mode());
    return Collections.max(
        set.workloads().stream()
            .map(workload ->
                evaluation.of(set, contender, workload).meanSeconds()
                    / evaluation.of(set, baseline, workload).meanSeconds())
            .toList());
  }

  private static List<String> seconds(Figures own, Figures base) {
    List<ToDoubleFunction<Figures>> figures =
        List.of(
            Figures::meanSeconds, Figures::p50Seconds, Figures::p90Seconds, Figures::p99Seconds);
    return figures.stream()
        .map(figure -> {
          double value = figure.applyAsDouble(own);
          String ratio = Markdown.ratio(value / figure.applyAsDouble(base));
          return own.equals(base)
              ? Markdown.seconds(value)
              : Markdown.seconds(value) + " (" + ratio + ")";
        })
        .toList();
  }

  private List<String> rest(Figures own, double boundSeconds) {
    List<String> cells =
        List.of(
            Markdown.number("%,.0f", own.restarts()),
            Markdown.share(own.shareAboveOne()),
            Markdown.number("%.2f", own.worst()));
    return bounds.isEmpty()
        ? cells
        : Stream.concat(cells.stream(), Stream.of(Markdown.ratio(own.meanSeconds() / boundSeconds)))
            .toList();
  }

  /** Its file's name, without the ending. */
  private static String name(String workload) {
    String file = String.valueOf(Path.of(workload).getFileName());
    return file.endsWith(".csv") ? file.substring(0, file.length() - 4) : file;
  }
}
