package dev.kastor.operator.queue;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.queue.QueueSpec;
import dev.kastor.crds.queue.QueueSpec.StopPolicyKind;
import dev.kastor.crds.queue.QueueStatus;
import dev.kastor.scheduler.model.BudgetUse;
import dev.kastor.text.PrintableText;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Derives the status of queues from what their jobs hold. */
public final class QueueStatuses {
  /** Jobs of a queue. */
  public static final class Count {
    private int pending;
    private int running;
    private int used;

    /** A job that holds so many GPUs, and whether it would like to. */
    public void add(int gpus, boolean wants) {
      running += gpus > 0 ? 1 : 0;
      pending += gpus == 0 && wants ? 1 : 0;
      used += gpus;
    }
  }

  /** A condition without its times. */
  private record State(String type, boolean holds, String reason, String message) {}

  private QueueStatuses() {}

  /** The status of each Queue object. */
  public static Map<String, QueueStatus> of(
      QueueDirectory directory, Map<String, Count> counts, Instant now) {
    Map<String, Integer> used = new HashMap<>();
    counts.forEach((name, count) -> used.put(name, count.used));
    Map<String, QueueUse> uses = QueueUse.of(directory.queues(), used);
    Map<String, QueueStatus> statuses = new HashMap<>();
    directory
        .objects()
        .forEach((name, queue) -> {
          Count count = counts.getOrDefault(name, new Count());
          QueueUse use = uses.get(name);
          BudgetUse budget = directory.budgets().get(name);
          List<Condition> conditions = new ArrayList<>();
          conditions.add(condition(queue, active(queue, budget, count), now));
          conditions.add(condition(queue, within(queue.getSpec(), use), now));
          if (budget != null) {
            conditions.add(condition(queue, within(name, budget), now));
          }
          statuses.put(
              name,
              new QueueStatus(
                  queue.getMetadata().getGeneration(),
                  count.pending,
                  count.running,
                  count.used,
                  use == null ? 0 : use.borrowed(),
                  use == null ? 0 : use.lent(),
                  budget == null ? null : budget.usedPercent(),
                  budget == null ? null : budget.until().toString(),
                  List.copyOf(conditions)));
        });
    return statuses;
  }

  private static State active(Queue queue, @Nullable BudgetUse budget, Count count) {
    Optional<String> problem = QueueDirectory.problem(queue);
    if (problem.isPresent()) {
      return new State("Active", false, "Invalid", problem.get());
    }
    QueueSpec spec = queue.getSpec();
    StopPolicyKind stop = spec == null ? null : spec.stopPolicy();
    return switch (stop) {
      case null -> open(budget, count);
      case None -> open(budget, count);
      case Hold -> new State("Active", false, "Held", "stopPolicy Hold lets no job start.");
      case HoldAndDrain ->
          count.running > 0
              ? new State(
                  "Active", false, "Draining", "stopPolicy HoldAndDrain: jobs are stopping.")
              : new State("Active", false, "Drained", "stopPolicy HoldAndDrain lets no job run.");
    };
  }

  private static State open(@Nullable BudgetUse budget, Count count) {
    if (budget != null && budget.stops()) {
      return count.running > 0
          ? new State("Active", false, "Draining", "Its budget is spent: jobs are stopping.")
          : new State("Active", false, "Drained", "Its budget is spent: no job runs.");
    }
    return new State("Active", true, "Open", "Jobs start as the scheduler decides.");
  }

  /** In words that stay the same while it is used up. */
  private static State within(String name, BudgetUse budget) {
    return budget.spent()
        ? new State(
            "WithinBudget",
            false,
            "BudgetSpent",
            (budget.stops() ? budget.reason(name) : budget.lowered(name)).message())
        : new State("WithinBudget", true, "WithinBudget", "Its budget is not spent.");
  }

  private static State within(@Nullable QueueSpec spec, @Nullable QueueUse use) {
    String type = "WithinQuota";
    if (use == null) {
      return new State(type, true, "NoQuota", "The queue has no quota.");
    }
    String cohort = spec == null ? null : spec.cohort();
    if (use.borrowed() == 0) {
      return use.lent() > 0
          ? new State(type, true, "Lending", "Others of cohort %s use its GPUs.".formatted(cohort))
          : new State(type, true, "WithinQuota", "Its jobs hold no more than its quota.");
    }
    Integer limit = spec == null || spec.quota() == null ? null : spec.quota().borrowingLimit();
    boolean allowed = cohort != null && (limit == null || use.borrowed() <= limit);
    return allowed
        ? new State(
            type, true, "Borrowing", "Its jobs use GPUs that cohort %s leaves.".formatted(cohort))
        : new State(
            type,
            false,
            "OverQuota",
            "Its jobs hold more than they may; they shrink or stop unless they are pinned.");
  }

  private static Condition condition(Queue queue, State state, Instant now) {
    String status = state.holds() ? "True" : "False";
    String since = now.truncatedTo(ChronoUnit.SECONDS).toString();
    QueueStatus before = queue.getStatus();
    if (before != null && before.conditions() != null) {
      for (Condition old : before.conditions()) {
        if (state.type().equals(old.getType()) && status.equals(old.getStatus())) {
          since = old.getLastTransitionTime();
        }
      }
    }
    return new ConditionBuilder()
        .withType(state.type())
        .withStatus(status)
        .withReason(state.reason())
        .withMessage(PrintableText.line(state.message()))
        .withObservedGeneration(queue.getMetadata().getGeneration())
        .withLastTransitionTime(since)
        .build();
  }
}
