package dev.kastor.simulator.evaluate;

import dev.kastor.simulator.run.Run;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** An evaluation as Markdown. */
public final class EvaluationTables {
  private final Evaluation evaluation;
  private final Markdown text = new Markdown();

  private EvaluationTables(Evaluation evaluation) {
    this.evaluation = evaluation;
  }

  /** A section for each part, with the tables that it asks for, then what failed. */
  public static List<String> of(Evaluation evaluation) {
    EvaluationTables tables = new EvaluationTables(evaluation);
    for (Part part : evaluation.parts()) {
      List<WorkloadSet> sets = evaluation.sets().stream().filter(part::asks).toList();
      if (sets.isEmpty()) {
        continue;
      }
      switch (part) {
        case COMPARISON -> new ComparisonTables(evaluation, tables.text).write(sets);
        case FAIRNESS -> tables.fairness(sets);
        case ROBUSTNESS -> new RobustnessTables(evaluation, tables.text).write(sets);
        case ABLATION -> tables.ablation(sets);
        case LOADS -> tables.loads(sets);
      }
    }
    tables.failures();
    return tables.text.lines();
  }

  private void fairness(List<WorkloadSet> sets) {
    text.heading("Fairness");
    text.paragraph(
        "Share of the jobs with a finish-time fairness above 1, and the largest ratio of a job: in"
            + " the mean over workloads and seeds, and of all.");
    text.row("set", "policy", "FTF > 1", "worst, mean", "worst of all", "mean JCT, s");
    text.ruler(2, 4);
    for (WorkloadSet set : sets) {
      for (Contender contender : evaluation.contenders(Part.FAIRNESS, set)) {
        Figures mean = evaluation.of(set, contender);
        List<Figures> each = evaluation.each(set, contender);
        text.row(
            set.name(),
            contender.name(),
            Markdown.share(mean.shareAboveOne()),
            Markdown.number("%.2f", Figures.mean(each).worst()),
            Markdown.number("%.2f", Figures.over(each).worst()),
            evaluation.failure(set, contender).orElse(Markdown.seconds(mean.meanSeconds())));
      }
    }
  }

  private void ablation(List<WorkloadSet> sets) {
    text.heading("Ablation");
    text.paragraph(
        "Mean completion time over that of the whole policy, and over the published policy's.");
    List<String> header = new ArrayList<>(List.of("without"));
    for (WorkloadSet set : sets) {
      header.add(set.name() + ", / kastor");
      header.add("/ " + set.mode().label());
    }
    text.row(header);
    text.ruler(1, header.size() - 1);
    List<Contender> rows = new ArrayList<>(List.of(Contender.KASTOR));
    rows.addAll(Part.ABLATION.contenders(List.of()));
    for (Contender contender : rows) {
      List<String> cells =
          new ArrayList<>(
              List.of(contender.equals(Contender.KASTOR) ? "nothing" : contender.name()));
      for (WorkloadSet set : sets) {
        cells.add(
            evaluation
                .failure(set, contender)
                .orElse(Markdown.ratio(evaluation.ratio(set, contender, Contender.KASTOR))));
        cells.add(Markdown.ratio(evaluation.ratio(set, contender, Contender.baseline(set.mode()))));
      }
      text.row(cells);
    }
  }

  private void loads(List<WorkloadSet> sets) {
    List<WorkloadSet> rising = Evaluation.byLoad(sets);
    text.heading("Load");
    text.paragraph("Mean completion time in seconds; – where a policy was not tried.");
    List<String> header = new ArrayList<>(List.of("policy"));
    rising.forEach(set -> header.add(set.name()));
    text.row(header);
    text.ruler(1, rising.size());
    for (Contender contender : evaluation.tried(rising)) {
      List<String> cells = new ArrayList<>(List.of(contender.name()));
      for (WorkloadSet set : rising) {
        cells.add(
            evaluation.contenders(Part.LOADS, set).contains(contender)
                ? evaluation
                    .failure(set, contender)
                    .orElse(Markdown.seconds(evaluation.of(set, contender).meanSeconds()))
                : Markdown.seconds(Double.NaN));
      }
      text.row(cells);
    }
  }

  private void failures() {
    if (evaluation.failures().isEmpty()) {
      return;
    }
    text.heading("Failed replays");
    text.row("workload", "policy", "mode", "seed", "why");
    text.ruler(5, 0);
    for (Map.Entry<Run, String> failed : evaluation.failures().entrySet()) {
      Run run = failed.getKey();
      text.row(
          run.workload(),
          run.policy().toString(),
          run.mode().label(),
          Long.toString(run.seed()),
          "failed: " + failed.getValue());
    }
  }
}
