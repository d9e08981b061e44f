package dev.kastor.cli.whatif;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Table;
import dev.kastor.cli.terminal.Wrapped;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.simulator.whatif.Fate;
import dev.kastor.simulator.whatif.Supposition;
import dev.kastor.simulator.whatif.WhatIf;
import dev.kastor.simulator.whatif.WhatIf.Difference;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Answer in a sentence, a table and a document. */
final class Answer {
  private final WhatIf whatIf;

  Answer(WhatIf whatIf) {
    this.whatIf = whatIf;
  }

  /**
   * What {@code -o json} prints.
   *
   * @param at the instant of the cluster that was replayed
   * @param policy that decides there
   * @param changes what was asked about, in words
   * @param added jobs of {@code --add}
   * @param jobs the others, with and without the changes
   * @param meanSeconds mean time from now to the end of those, without the changes
   * @param meanSecondsThen the same with them
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Document(
      String sentence,
      String at,
      String policy,
      List<String> changes,
      List<AddedJob> added,
      List<OtherJob> jobs,
      @Nullable Double meanSeconds,
      @Nullable Double meanSecondsThen,
      List<String> assumptions) {}

  /**
   * A job that the changes add.
   *
   * @param start when it gets GPUs; absent if never
   * @param trains when it begins to train
   * @param replicas how many it starts with
   * @param end when it is done; absent if not within the time that was replayed
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record AddedJob(
      String namespace,
      String name,
      @Nullable String start,
      @Nullable String trains,
      int replicas,
      @Nullable String end) {}

  /**
   * A job that is there.
   *
   * @param start when it gets GPUs without the changes; absent where it has them, or never
   * @param startThen the same with them
   * @param end when it ends without the changes
   * @param endThen the same with them
   * @param laterSeconds by how much later that is; absent where one of both is not known
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record OtherJob(
      String namespace,
      String name,
      @Nullable String start,
      @Nullable String startThen,
      @Nullable String end,
      @Nullable String endThen,
      @Nullable Double laterSeconds) {}

  Document document() {
    return new Document(
        sentence(),
        whatIf.cluster().now().toString(),
        whatIf.cluster().policy(),
        whatIf.suppositions().stream().map(Supposition::text).toList(),
        whatIf.added().stream()
            .map(fate ->
                new AddedJob(
                    fate.job().namespace(),
                    fate.job().name(),
                    text(fate.start()),
                    text(fate.trains()),
                    fate.replicas(),
                    text(fate.end())))
            .toList(),
        whatIf.differences().stream()
            .map(each ->
                new OtherJob(
                    each.now().job().namespace(),
                    each.now().job().name(),
                    text(each.now().start()),
                    text(each.then().start()),
                    text(each.now().end()),
                    text(each.then().end()),
                    finite(each.laterSeconds())))
            .toList(),
        finite(whatIf.meanSeconds(false)),
        finite(whatIf.meanSeconds(true)),
        whatIf.assumptions());
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
    List<String> lines = new ArrayList<>(Wrapped.lines(sentence(), paper));
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

  String sentence() {
    if (whatIf.suppositions().isEmpty()) {
      return asThingsAre();
    }
    List<String> others =
        whatIf.suppositions().stream()
            .filter(each -> !(each instanceof Supposition.Added))
            .map(Supposition::text)
            .toList();
    String with = others.isEmpty() ? "" : "With %s: ".formatted(String.join(" and ", others));
    String added = whatIf.added().stream().map(this::added).collect(Collectors.joining("; "));
    String means = added.isEmpty() || !others.isEmpty() ? means() : "";
    return with
        + Optional.of(added).filter(text -> !text.isEmpty()).map(text -> text + ". ").orElse("")
        + Optional.of(means).filter(text -> !text.isEmpty()).map(text -> text + ". ").orElse("")
        + moved()
        + ".";
  }

  private String asThingsAre() {
    List<Difference> all = whatIf.differences();
    if (all.isEmpty()) {
      return "No job runs or waits.";
    }
    Optional<Instant> last =
        all.stream().flatMap(each -> each.now().end().stream()).max(Comparator.naturalOrder());
    long never = all.stream().filter(each -> each.now().end().isEmpty()).count();
    double mean = whatIf.meanSeconds(false);
    return "As things are, %s%s."
        .formatted(
            last.isEmpty()
                ? "no job ends within the time that was replayed"
                : "jobs end in %s on average, the last in %s".formatted(duration(mean), in(last)),
            never == 0 || last.isEmpty() ? "" : ", and %s".formatted(neverEnd(never)));
  }

  private static String neverEnd(long count) {
    return count == 1 ? "1 does not start" : count + " do not start";
  }

  private String added(Fate fate) {
    if (fate.start().isEmpty()) {
      return "%s would not start".formatted(name(fate.job()));
    }
    Duration wait = Duration.between(whatIf.cluster().now(), fate.start().get());
    return "%s would start %s with %d %s and %s"
        .formatted(
            name(fate.job()),
            wait.toSeconds() < 1 ? "at once" : "in " + in(fate.start()),
            fate.replicas(),
            fate.replicas() == 1 ? "replica" : "replicas",
            fate.end().isEmpty()
                ? "not end within the time that was replayed"
                : "end in " + in(fate.end()));
  }

  private String means() {
    double now = whatIf.meanSeconds(false);
    double then = whatIf.meanSeconds(true);
    if (Double.isNaN(now)) {
      return "";
    }
    return "jobs end in %s on average instead of %s".formatted(duration(then), duration(now));
  }

  /** Whose end moves. */
  private String moved() {
    List<Difference> all = whatIf.differences();
    List<Difference> later = all.stream().filter(each -> each.laterSeconds() > 0).toList();
    List<Difference> sooner = all.stream().filter(each -> each.laterSeconds() < 0).toList();
    if (all.isEmpty()) {
      return "No other job runs or waits";
    }
    if (later.isEmpty() && sooner.isEmpty()) {
      return all.size() == 1 ? "The other job ends as before" : "The others end as before";
    }
    List<String> parts = new ArrayList<>();
    if (!later.isEmpty()) {
      parts.add(most(later, all.size(), "later"));
    }
    if (!sooner.isEmpty()) {
      parts.add(most(sooner, all.size(), "sooner"));
    }
    String text = String.join("; ", parts);
    return Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }

  private String most(List<Difference> some, int of, String how) {
    Difference most =
        some.stream()
            .max(Comparator.comparingDouble(each -> Math.abs(each.laterSeconds())))
            .orElseThrow();
    double by = Math.abs(most.laterSeconds());
    return "%d of %d %s %s %s%s"
        .formatted(
            some.size(),
            of,
            of == 1 ? "job" : "jobs",
            some.size() == 1 ? "ends" : "end",
            how,
            by == Double.POSITIVE_INFINITY
                ? ", %s %s"
                    .formatted(
                        name(most.now().job()),
                        how.equals("later") ? "not at all" : "which did not end before")
                : "%s %s by %s"
                    .formatted(
                        some.size() == 1 ? "," : ", most of all",
                        name(most.now().job()),
                        duration(by)));
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

  private static @Nullable String text(Optional<Instant> at) {
    return at.map(Instant::toString).orElse(null);
  }

  private static @Nullable Double finite(double number) {
    return Double.isFinite(number) ? number : null;
  }
}
