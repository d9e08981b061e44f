package dev.kastor.cli.paper;

import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Table;
import dev.kastor.paper.Claim;
import dev.kastor.paper.Finding;
import dev.kastor.paper.Measured;
import dev.kastor.paper.Paper;
import dev.kastor.paper.PaperReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Papers and reports on them as text. */
final class PaperTable {
  private PaperTable() {}

  static List<String> list(List<Paper> papers, int width) {
    Table table = new Table("NAME", "STATE", "TITLE");
    papers.forEach(paper -> table.row(List.of(paper.name(), paper.state(), paper.title())));
    return table.lines(width);
  }

  /** Claims of a paper with their sources, a line each. */
  static List<String> claims(Paper paper) {
    List<String> lines = new ArrayList<>(List.of(paper.title()));
    int number = 1;
    for (Claim claim : paper.claims()) {
      lines.add("%d. %s".formatted(number++, claim.sentence()));
      lines.add("   %s: %s".formatted(claim.source(), claim.certainty().sentence()));
    }
    return lines;
  }

  static List<String> of(PaperReport report, int width) {
    List<String> lines = claims(report.paper());
    lines.add("");
    Table table =
        new Table("", "MEASURED", "OURS", "INTERVAL", "REPRODUCED", "REFUTED", "VERDICT", "OVER")
            .optional(7, 5, 3);
    int number = 1;
    for (Finding finding : report.findings()) {
      table.row(
          List.of(
              Integer.toString(number++),
              finding.threshold().quantity(),
              Format.number(finding.ours().value()),
              interval(finding.ours()),
              finding.threshold().reproduced(),
              finding.threshold().refuted(),
              finding.verdict().word(),
              finding.ours().over()));
    }
    lines.addAll(table.lines(width));
    lines.add("");
    lines.add(
        String.format(
            Locale.ROOT,
            "%s%s: %s. %.0f s on %d cores of %s, %s.",
            report.paper().name(),
            report.trial().reduced() ? " (reduced, so the verdict means nothing)" : "",
            report.verdict().word(),
            report.seconds(),
            report.machine().cores(),
            report.machine().cpu(),
            report.date()));
    return lines;
  }

  private static String interval(Measured ours) {
    return Double.isNaN(ours.low())
        ? "-"
        : "%s to %s".formatted(Format.number(ours.low()), Format.number(ours.high()));
  }
}
