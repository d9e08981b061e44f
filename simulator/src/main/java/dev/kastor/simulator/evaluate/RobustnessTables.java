package dev.kastor.simulator.evaluate;

import java.util.ArrayList;
import java.util.List;

/** What disturbances cost, held to the same without them and to the published policy. */
final class RobustnessTables {
  private final Evaluation evaluation;
  private final Markdown text;

  RobustnessTables(Evaluation evaluation, Markdown text) {
    this.evaluation = evaluation;
    this.text = text;
  }

  void write(List<WorkloadSet> sets) {
    text.heading("Robustness");
    text.paragraph(
        "Mean completion times: in seconds, over that of the same policy undisturbed, and over that"
            + " of the published policy by the same rules of time (live: mode events, 2 s a"
            + " rescale) and as disturbed. Declared work is nothing to the published policies.");
    List<String> header = new ArrayList<>(List.of("disturbed"));
    for (WorkloadSet set : sets) {
      header.add(set.name() + ", s");
      header.add("/ undisturbed");
      header.add("/ %s, as disturbed".formatted(set.mode().label()));
    }
    text.row(header);
    text.ruler(1, header.size() - 1);
    for (Contender usual :
        Part.ROBUSTNESS.contenders(List.of()).stream()
            .map(Contender::reference)
            .distinct()
            .toList()) {
      row(usual.name() + ": nothing", usual, sets);
      Part.ROBUSTNESS.contenders(List.of()).stream()
          .filter(one -> one.reference().equals(usual))
          .forEach(one -> row(one.name(), one, sets));
    }
  }

  private void row(String name, Contender contender, List<WorkloadSet> sets) {
    List<String> cells = new ArrayList<>(List.of(name));
    for (WorkloadSet set : sets) {
      cells.add(
          evaluation
              .failure(set, contender)
              .orElse(Markdown.seconds(evaluation.of(set, contender).meanSeconds())));
      cells.add(Markdown.ratio(evaluation.ratio(set, contender, contender.reference())));
      cells.add(Markdown.ratio(evaluation.ratio(set, contender, contender.published(set.mode()))));
    }
    text.row(cells);
  }
}
