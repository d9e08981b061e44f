package dev.kastor.simulator.evaluate;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** An evaluation as Markdown. */
public final class EvaluationTables {
  private final Evaluation evaluation;
  private final List<String> lines = new ArrayList<>();

  private EvaluationTables(Evaluation evaluation) {
    this.evaluation = evaluation;
  }

  /** A section for each part, with the tables that it asks for. */
  public static List<String> of(Evaluation evaluation) {
    EvaluationTables tables = new EvaluationTables(evaluation);
    for (Part part : evaluation.parts()) {
      switch (part) {
        case COMPARISON -> tables.comparison();
        case ROBUSTNESS -> tables.held("Robustness", "disturbed by", part, evaluation.sets());
        case ABLATION -> tables.held("Ablation", "without", part, evaluation.sets());
        case LOADS -> tables.loads();
      }
    }
    return tables.lines;
  }

  private void comparison() {
    heading("Comparison");
    lines.add(
        "In brackets: over the published policy's on the same workloads. Percentiles are means over the workloads, the worst ratio is the largest.");
    lines.add("");
    row(
        "set",
        "policy",
        "mean JCT, s",
        "worst workload",
        "p50",
        "p90",
        "p99",
        "restarts",
        "FTF > 1",
        "worst FTF");
    ruler(2, 8);
    for (WorkloadSet set : evaluation.sets()) {
      for (Contender contender : compared(set)) {
        Figures own = evaluation.of(set, contender);
        Figures base = evaluation.of(set, Contender.baseline(set.mode()));
        List<String> cells = new ArrayList<>(List.of(set.name(), contender.name()));
        cells.addAll(seconds(own, base));
        cells.add(3, "(%s)".formatted(ratio(worstWorkload(set, contender))));
        cells.addAll(rest(own));
        row(cells);
      }
    }
    for (WorkloadSet set : evaluation.sets()) {
      each(set);
    }
  }

  private void each(WorkloadSet set) {
    lines.add("");
    lines.add(
        "%s: %s on %s, mode %s"
            .formatted(
                set.name(),
                set.workloads().size() == 1
                    ? "one workload"
                    : set.workloads().size() + " workloads",
                set.cluster(),
                set.mode().label()));
    lines.add("");
    row(
        "workload",
        "policy",
        "mean JCT, s",
        "p50",
        "p90",
        "p99",
        "restarts",
        "FTF > 1",
        "worst FTF");
    ruler(2, 7);
    for (String workload : set.workloads()) {
      Figures base = evaluation.of(set, Contender.baseline(set.mode()), workload);
      for (Contender contender : compared(set)) {
        Figures own = evaluation.of(set, contender, workload);
        List<String> cells = new ArrayList<>(List.of(name(workload), contender.name()));
        cells.addAll(seconds(own, base));
        cells.addAll(rest(own));
        row(cells);
      }
    }
  }

  private static List<Contender> compared(WorkloadSet set) {
    List<Contender> all = new ArrayList<>(List.of(Contender.baseline(set.mode())));
    all.addAll(Part.COMPARISON.contenders());
    return all;
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

  /**
   * Mean completion times held to what a contender is without its difference, and to the baseline.
   */
  private void held(String title, String first, Part part, List<WorkloadSet> sets) {
    heading(title);
    lines.add(
        "Mean completion time over that of the same without the difference, and over the published policy's undisturbed replay.");
    lines.add("");
    List<String> header = new ArrayList<>(List.of(first));
    for (WorkloadSet set : sets) {
      header.add(set.name() + ", / usual");
      header.add("/ " + set.mode().label());
    }
    row(header);
    ruler(1, header.size() - 1);
    List<Contender> usual =
        part.contenders().stream().map(Contender::reference).distinct().toList();
    for (Contender contender : usual) {
      row(heldCells("nothing (%s)".formatted(contender.name()), contender, sets));
    }
    for (Contender contender : part.contenders()) {
      row(heldCells(contender.name(), contender, sets));
    }
  }

  private List<String> heldCells(String name, Contender contender, List<WorkloadSet> sets) {
    List<String> cells = new ArrayList<>(List.of(name));
    for (WorkloadSet set : sets) {
      cells.add(ratio(evaluation.ratio(set, contender, contender.reference())));
      cells.add(ratio(evaluation.ratio(set, contender, Contender.baseline(set.mode()))));
    }
    return cells;
  }

  private void loads() {
    List<WorkloadSet> sets =
        evaluation.sets().stream().filter(set -> set.load().isPresent()).toList();
    if (sets.isEmpty()) {
      return;
    }
    heading("Load");
    lines.add("Mean completion time in seconds.");
    lines.add("");
    List<String> header = new ArrayList<>(List.of("policy"));
    sets.forEach(set -> header.add(set.name()));
    row(header);
    ruler(1, sets.size());
    for (Contender contender : evaluation.contenders(Part.LOADS)) {
      List<String> cells = new ArrayList<>(List.of(contender.name()));
      sets.forEach(set -> cells.add(seconds(evaluation.of(set, contender).meanSeconds())));
      row(cells);
    }
  }

  private void heading(String title) {
    if (!lines.isEmpty()) {
      lines.add("");
    }
    lines.add("### " + title);
    lines.add("");
  }

  private static List<String> seconds(Figures own, Figures base) {
    List<ToDoubleFunction<Figures>> figures =
        List.of(
            Figures::meanSeconds, Figures::p50Seconds, Figures::p90Seconds, Figures::p99Seconds);
    return figures.stream()
        .map(figure -> {
          double value = figure.applyAsDouble(own);
          String ratio = ratio(value / figure.applyAsDouble(base));
          return own.equals(base) ? seconds(value) : seconds(value) + " (" + ratio + ")";
        })
        .toList();
  }

  private static List<String> rest(Figures own) {
    return List.of(
        text("%,.0f", own.restarts()),
        text("%.1f %%", 100 * own.shareAboveOne()),
        text("%.2f", own.worst()));
  }

  /** Its file's name, without the ending. */
  private static String name(String workload) {
    String file = String.valueOf(Path.of(workload).getFileName());
    return file.endsWith(".csv") ? file.substring(0, file.length() - 4) : file;
  }

  private static String seconds(double value) {
    return text("%,.0f", value);
  }

  private static String ratio(double value) {
    return text("%.3f", value);
  }

  private static String text(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }

  private void row(String... cells) {
    row(List.of(cells));
  }

  private void row(List<String> cells) {
    lines.add("| " + String.join(" | ", cells) + " |");
  }

  private void ruler(int texts, int numbers) {
    lines.add("|" + "---|".repeat(texts) + "---:|".repeat(numbers));
  }
}
