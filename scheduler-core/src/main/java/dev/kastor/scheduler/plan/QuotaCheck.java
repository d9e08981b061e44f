package dev.kastor.scheduler.plan;

import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Snapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Whether a plan keeps the quotas of its snapshot: each queue holds at most its nominal quota and
 * what it may borrow, and each cohort at most what its queues keep and lend. Jobs that must stay as
 * they are may hold more than a quota that was lowered; then nobody may join them.
 */
final class QuotaCheck {
  private QuotaCheck() {}

  static List<PlanViolation> violations(Snapshot snapshot, Plan plan) {
    List<PlanViolation> found = new ArrayList<>();
    boolean limited = false;
    for (Queue queue : snapshot.queues().values()) {
      limited |= queue.limited();
    }
    if (!limited) {
      return found;
    }
    Quotas planned = Quotas.of(snapshot);
    Quotas pinned = Quotas.of(snapshot);
    for (JobState job : snapshot.jobs()) {
      int slots = plan.allocation(job.id()).slots();
      planned.take(job, slots);
      if (job.pinned()) {
        pinned.take(job, job.allocation().slots());
      } else if (slots > 0) {
        checkStop(job, snapshot.queue(job.spec().queue()), found);
      }
    }
    TreeMap<String, PlanViolation> cohorts = new TreeMap<>();
    for (QuotaAccount account : planned.all()) {
      Queue queue = account.queue();
      QuotaAccount stuck = pinned.account(queue.name());
      if (stuck == null) {
        throw new IllegalStateException("queue %s has one account of two".formatted(queue.name()));
      }
      if (account.used() > Math.max(account.most(), stuck.used())) {
        found.add(new PlanViolation.QuotaExceeded(queue.name(), account.most(), account.used()));
      }
      QuotaAccount.Pool pool = account.pool();
      if (pool.drawn > Math.max(pool.lent, stuck.pool().drawn) && !queue.cohort().isEmpty()) {
        cohorts.put(
            queue.cohort(),
            new PlanViolation.CohortExceeded(
                queue.cohort(), pool.lent, pool.drawn, pool.nominal, pool.used));
      }
    }
    found.addAll(cohorts.values());
    return found;
  }

  private static void checkStop(JobState job, Queue queue, List<PlanViolation> found) {
    boolean against =
        switch (queue.stop()) {
          case NONE -> false;
          case HOLD -> job.allocation().isEmpty();
          case HOLD_AND_DRAIN -> true;
        };
    if (against) {
      found.add(new PlanViolation.QueueStopped(job.id(), queue.name(), queue.stop()));
    }
  }
}
