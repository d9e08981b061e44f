package dev.kastor.cli.whatif;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Table;
import dev.kastor.cli.terminal.Wrapped;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.simulator.whatif.Fate;
import dev.kastor.simulator.whatif.WhatIf;
import dev.kastor.simulator.whatif.WhatIf.Difference;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Answer in a sentence, a table and a document. */
final class AnswerText {
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(
                  JsonInclude.Include.NON_NULL, JsonInclude.Include.NON_NULL))
          .build();

  private final WhatIf whatIf;

  AnswerText(WhatIf whatIf) {
    this.whatIf = whatIf;
  }

  /** Document that {@code -o json} prints; unknown values are absent. */
  JsonNode document() {
    return JSON.valueToTree(whatIf.answer());
  }

  /** Jobs whose end moves, those that are added first. */
  List<String> names() {
    List<String> names = new ArrayList<>();
    whatIf.added().forEach(fate -> names.add(fate.job().toString()));
    whatIf.differences().stream()
        .filter(each -> each.laterSeconds() != 0)
        .forEach(each -> names.add(each.now().job().toString()));
    return names;
  }

  List<String> lines(int paper) {
    List<String> lines = new ArrayList<>(Wrapped.lines(whatIf.answer().sentence(), paper));
    if (!whatIf.then().fates().isEmpty()) {
      lines.add("");
      lines.addAll(table().lines(paper));
    }
    lines.add("");
    lines.addAll(
        Wrapped.lines("Assumed: %s.".formatted(String.join("; ", whatIf.assumptions())), paper));
    return lines;
  }

  private Table table() {
    boolean changed = !whatIf.suppositions().isEmpty();
    Table table =
        changed
            ? new Table("JOB", "STARTS IN", "THEN", "ENDS IN", "THEN", "CHANGE")
            : new Table("JOB", "STARTS IN", "ENDS IN");
    for (Fate fate : whatIf.added()) {
      table.row(List.of(name(fate.job()), "", starts(fate), "", in(fate.end()), "added"));
    }
    for (Difference each : whatIf.differences()) {
      Fate now = each.now();
      Fate then = each.then();
      table.row(
          changed
              ? List.of(
                  name(now.job()),
                  starts(now),
                  starts(then),
                  in(now.end()),
                  in(then.end()),
                  change(each.laterSeconds()))
              : List.of(name(now.job()), starts(now), in(now.end())));
    }
    return table;
  }

  private String starts(Fate fate) {
    return fate.runs() ? "runs" : fate.start().isEmpty() ? "never" : in(fate.start());
  }

  private String in(Optional<Instant> end) {
    return end.isEmpty() ? "-" : Format.between(Optional.of(whatIf.cluster().now()), end);
  }

  private static String change(double laterSeconds) {
    if (laterSeconds == 0) {
      return "-";
    }
    return Double.isInfinite(laterSeconds)
        ? laterSeconds > 0 ? "no end" : "an end"
        : (laterSeconds > 0 ? "+" : "-") + duration(Math.abs(laterSeconds));
  }

  private static String duration(double seconds) {
    return Format.duration(Duration.ofMillis(Math.round(seconds * 1000)));
  }

  private static String name(JobId job) {
    return job.toString();
  }
}
