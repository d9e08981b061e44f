package dev.kastor.operator.usage;

import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.metrics.QueueMetrics;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Counters of usage by queue, for Prometheus: what is used from the start of this operator on.
 *
 * <p>There are series of at most {@link #MOST_QUEUES} queues; those of a queue end two days after
 * its last use. Used by one thread.
 */
@Singleton
public final class UsageCounters {
  /** All jobs are added up, and nobody scrapes much more often. */
  static final Duration PERIOD = Duration.ofSeconds(10);

  static final int MOST_QUEUES = 200;

  /** Name of all queues beyond the bound together, which no Queue can have. */
  static final String OTHERS = "(others)";

  private static final List<String> USES =
      Arrays.stream(Usage.Kind.values()).map(UsageCounters::label).toList();
  private static final double MILLI = 1e3;
  private static final double MICRO = 1e6;

  private final Function<Instant, Map<QueueDay, Usage>> usage;
  private final QueueMetrics metrics;
  private final InstantSource clock;

  /** Usage of today and yesterday that is counted; empty before the first look. */
  private Map<QueueDay, Usage> counted = Map.of();

  private final Set<String> shown = new HashSet<>();
  private boolean began;
  private Instant next = Instant.MIN;

  @Inject
  UsageCounters(UsageLedger ledger, Metrics metrics, InstantSource clock) {
    this(ledger::byQueue, metrics.queues(), clock);
  }

  /** Counters of usage that is told by a function of the time. */
  UsageCounters(
      Function<Instant, Map<QueueDay, Usage>> usage, QueueMetrics metrics, InstantSource clock) {
    this.usage = usage;
    this.metrics = metrics;
    this.clock = clock;
  }

  /** Counts what was used since the last look, if it is time to look again. */
  public void countIfDue() {
    Instant now = clock.instant();
    if (now.isBefore(next)) {
      return;
    }
    next = now.plus(PERIOD);
    LocalDate yesterday = LocalDate.ofInstant(now, ZoneOffset.UTC).minusDays(1);
    Map<QueueDay, Usage> seen = new HashMap<>();
    usage
        .apply(now)
        .forEach((when, used) -> {
          if (!when.day().isBefore(yesterday)) {
            // A job that is deleted is counted nowhere for a moment.
            seen.put(when, used.atLeast(counted.getOrDefault(when, Usage.NONE)));
          }
        });
    counted.forEach((when, used) -> {
      if (!when.day().isBefore(yesterday)) {
        seen.putIfAbsent(when, used);
      }
    });
    seen.forEach((when, used) ->
        count(shownAs(when.queue()), began ? counted.getOrDefault(when, Usage.NONE) : used, used));
    counted = seen;
    began = true;
    forgetUnused();
  }

  private String shownAs(String queue) {
    if (shown.size() < MOST_QUEUES) {
      shown.add(queue);
    }
    return shown.contains(queue) ? queue : OTHERS;
  }

  private void count(String queue, Usage before, Usage now) {
    for (Usage.Kind kind : Usage.Kind.values()) {
      metrics.used(queue, label(kind), (now.of(kind) - before.of(kind)) / MILLI);
    }
    metrics.cost(queue, (now.cost().micros() - before.cost().micros()) / MICRO);
  }

  private void forgetUnused() {
    Set<String> unused = new HashSet<>(shown);
    counted.keySet().forEach(when -> unused.remove(when.queue()));
    unused.forEach(queue -> metrics.forgetUse(queue, USES));
    shown.removeAll(unused);
  }

  private static String label(Usage.Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }
}
