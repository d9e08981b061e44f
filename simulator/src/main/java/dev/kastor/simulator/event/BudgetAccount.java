package dev.kastor.simulator.event;

import dev.kastor.scheduler.model.Budget;
import dev.kastor.scheduler.model.BudgetUse;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Queue;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Account of the budgets of queues: what their jobs held since the present period began. Owned by
 * one simulation.
 */
final class BudgetAccount {
  private static final double HOUR_SECONDS = 3600;
  private static final double MILLI = 1000;

  private final Map<String, Entry> entries = new HashMap<>();

  BudgetAccount(Map<String, Queue> queues) {
    queues.forEach(
        (name, queue) -> queue.budget().ifPresent(budget -> entries.put(name, new Entry(budget))));
  }

  /** From now on the jobs of a queue hold so many slots more, or less. */
  void holds(String queue, int more, double now) {
    Entry entry = entries.get(queue);
    if (entry != null) {
      entry.advance(now);
      entry.slots += more;
    }
  }

  /** These queues with what their budgets make of them now. */
  Map<String, Queue> queues(Map<String, Queue> queues, double now) {
    if (entries.isEmpty()) {
      return queues;
    }
    Map<String, Queue> applied = new HashMap<>(queues);
    entries.forEach((name, entry) ->
        applied.computeIfPresent(name, (same, queue) -> entry.use(now).applied(queue)));
    return applied;
  }

  /** The jobs with the priorities that count now. */
  List<JobState> counted(List<JobState> jobs, double now) {
    if (entries.isEmpty()) {
      return jobs;
    }
    List<JobState> counted = new ArrayList<>(jobs.size());
    for (JobState job : jobs) {
      String queue = job.spec().queue();
      Entry entry = entries.get(queue);
      counted.add(
          entry != null && entry.use(now).lowers()
              ? job.withSpec(job.spec().queued(queue, BudgetUse.LAST))
              : job);
    }
    return counted;
  }

  /** When a budget will be spent or, of one that is, its next period begins; infinite for never. */
  double next(double now) {
    return entries.values().stream()
        .mapToDouble(entry -> entry.next(now))
        .min()
        .orElse(Double.POSITIVE_INFINITY);
  }

  private static final class Entry {
    private final Budget budget;
    private LocalDate begin;
    private double at;
    private double usedSeconds;
    private int slots;

    private Entry(Budget budget) {
      this.budget = budget;
      begin = budget.period().begin(LocalDate.EPOCH);
    }

    private void advance(double now) {
      LocalDate day = LocalDate.ofInstant(VirtualClock.instant(now), ZoneOffset.UTC);
      LocalDate present = budget.period().begin(day);
      if (present.isAfter(begin)) {
        begin = present;
        usedSeconds = 0;
        at = Math.max(at, seconds(present.atStartOfDay(ZoneOffset.UTC).toInstant()));
      }
      usedSeconds += slots * (now - at);
      at = now;
    }

    private BudgetUse use(double now) {
      advance(now);
      return new BudgetUse(budget, Math.round(MILLI * usedSeconds), budget.period().end(begin));
    }

    private double next(double now) {
      BudgetUse use = use(now);
      if (use.spent()) {
        return seconds(use.until());
      }
      double left = HOUR_SECONDS * budget.gpuHours() - usedSeconds;
      return slots > 0 ? now + left / slots : Double.POSITIVE_INFINITY;
    }

    private static double seconds(Instant time) {
      return time.toEpochMilli() / MILLI;
    }
  }
}
