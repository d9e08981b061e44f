package dev.kastor.operator.queue;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.queue.QueueSpec;
import dev.kastor.crds.queue.QueueSpec.BudgetSpec;
import dev.kastor.crds.queue.QueueSpec.OnExceeded;
import dev.kastor.operator.usage.QueueDay;
import dev.kastor.operator.usage.Usage;
import dev.kastor.operator.usage.UsageLedger;
import dev.kastor.scheduler.model.Budget;
import dev.kastor.scheduler.model.BudgetUse;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** Budgets of queues and what is used of them. Thread-safe. */
@Singleton
public final class QueueBudgets {
  /** All jobs are added up; every decision asks. */
  private static final Duration FRESH = Duration.ofMillis(500);

  /** A period of a queue. */
  private record Period(String queue, LocalDate begin) {}

  private final Function<Instant, Map<QueueDay, Usage>> usage;
  private final InstantSource clock;

  /** What was used of the periods that last: a job that goes is uncounted for a moment. */
  private final Map<Period, Long> most = new HashMap<>();

  private Map<QueueDay, Usage> known = Map.of();
  private Instant knownAt = Instant.MIN;

  @Inject
  QueueBudgets(UsageLedger ledger, InstantSource clock) {
    this(ledger::byQueue, clock);
  }

  /** Budgets of queues whose usage is told by a function of the time. */
  QueueBudgets(Function<Instant, Map<QueueDay, Usage>> usage, InstantSource clock) {
    this.usage = usage;
    this.clock = clock;
  }

  /** The budgets of those queues that have one, by name. */
  public synchronized Map<String, BudgetUse> of(Collection<Queue> queues) {
    Map<String, BudgetUse> budgets = new HashMap<>();
    Map<Period, Long> periods = new HashMap<>();
    Instant now = clock.instant();
    for (Queue queue : queues) {
      QueueSpec spec = queue.getSpec();
      if (spec == null || spec.budget() == null) {
        continue;
      }
      Budget budget = budget(spec.budget());
      String name = queue.getMetadata().getName();
      LocalDate begin = budget.period().begin(LocalDate.ofInstant(now, ZoneOffset.UTC));
      Period period = new Period(name, begin);
      long used = Math.max(used(period, now), most.getOrDefault(period, 0L));
      periods.put(period, used);
      budgets.put(name, new BudgetUse(budget, used, budget.period().end(begin)));
    }
    most.clear();
    most.putAll(periods);
    return budgets;
  }

  private static Budget budget(BudgetSpec spec) {
    return new Budget(
        spec.gpuHours(),
        switch (spec.period()) {
          case Day -> Budget.Period.DAY;
          case Week -> Budget.Period.WEEK;
          case Month -> Budget.Period.MONTH;
        },
        spec.onExceeded() == OnExceeded.LowerPriority
            ? Budget.WhenSpent.LOWER_PRIORITY
            : Budget.WhenSpent.STOP);
  }

  private long used(Period period, Instant now) {
    return usage(now).entrySet().stream()
        .filter(entry -> entry.getKey().queue().equals(period.queue()))
        .filter(entry -> !entry.getKey().day().isBefore(period.begin()))
        .mapToLong(entry -> entry.getValue().held())
        .sum();
  }

  private Map<QueueDay, Usage> usage(Instant now) {
    if (now.isBefore(knownAt) || !now.isBefore(knownAt.plus(FRESH))) {
      known = usage.apply(now);
      knownAt = now;
    }
    return known;
  }
}
