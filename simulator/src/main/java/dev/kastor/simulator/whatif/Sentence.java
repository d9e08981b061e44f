package dev.kastor.simulator.whatif;

import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.whatif.Supposition;
import dev.kastor.simulator.whatif.WhatIf.Difference;
import dev.kastor.text.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Sentence that says what changes would bring: to jobs that they add, and whose end moves. */
final class Sentence {
  private final WhatIf whatIf;

  Sentence(WhatIf whatIf) {
    this.whatIf = whatIf;
  }

  String text() {
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

  private String in(Optional<Instant> end) {
    Duration until = Duration.between(whatIf.cluster().now(), end.orElseThrow());
    return DurationText.of(until.isNegative() ? Duration.ZERO : until);
  }

  private static String duration(double seconds) {
    return DurationText.of(Duration.ofMillis(Math.round(seconds * 1000)));
  }

  private static String name(JobId job) {
    return job.toString();
  }
}
