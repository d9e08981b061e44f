package dev.kastor.scheduler.policy.quota;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.StopPolicy;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanCheck;
import dev.kastor.scheduler.plan.PlanViolation;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.plan.QuotaAccount;
import dev.kastor.scheduler.plan.Quotas;
import dev.kastor.scheduler.policy.support.Sizes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * Any policy, made to keep the quotas of queues.
 *
 * <p>Jobs that their queue lets neither in nor go on never reach the policy. What it plans for the
 * others is cut down to the quotas by {@link QuotaPass}, unless it keeps them itself. Where no
 * queue has a limit, it is the policy alone.
 */
public final class QuotaPolicy implements Policy {
  private final Policy policy;
  private final Control control;
  private final boolean keepsQuotas;

  /**
   * A policy in force.
   *
   * @param control what it decides for its jobs
   * @param keepsQuotas whether its plans keep all quotas by themselves
   */
  public QuotaPolicy(Policy policy, Control control, boolean keepsQuotas) {
    this.policy = policy;
    this.control = control;
    this.keepsQuotas = keepsQuotas;
  }

  @Override
  public Plan plan(Snapshot snapshot) {
    boolean limited = false;
    for (Queue queue : snapshot.queues().values()) {
      limited |= queue.limited();
    }
    return limited ? limited(snapshot) : policy.plan(snapshot);
  }

  private Plan limited(Snapshot snapshot) {
    Quotas quotas = Quotas.of(snapshot);
    SequencedMap<JobId, Plan.Assignment> barred = new LinkedHashMap<>();
    List<JobState> open = new ArrayList<>();
    for (JobState job : snapshot.jobs()) {
      Optional<Reason> bar = bar(job, snapshot.queue(job.spec().queue()), quotas);
      bar.ifPresent(reason -> barred.put(job.id(), new Plan.Assignment(Allocation.NONE, reason)));
      if (bar.isEmpty()) {
        open.add(job);
      }
    }
    Snapshot admitted = barred.isEmpty() ? snapshot : snapshot.withJobs(open);
    Plan plan = policy.plan(admitted);
    if (!quotas.none() && (!keepsQuotas || exceeded(admitted, plan, quotas))) {
      plan = new QuotaPass(admitted, plan, control).kept();
    }
    if (barred.isEmpty()) {
      return plan;
    }
    SequencedMap<JobId, Plan.Assignment> all = new LinkedHashMap<>(plan.assignments());
    all.putAll(barred);
    return new Plan(all, plan.otherwise());
  }

  /** Whether a plan that should keep quotas does not: no round is worth losing over a slot. */
  private boolean exceeded(Snapshot snapshot, Plan plan, Quotas quotas) {
    for (JobState job : snapshot.jobs()) {
      quotas.take(job, plan.allocation(job.id()).slots());
    }
    for (QuotaAccount account : quotas.all()) {
      if (account.room() < 0) {
        // Pinned jobs may hold more than a quota that was lowered.
        return PlanCheck.violations(snapshot, plan).stream()
            .anyMatch(found ->
                found instanceof PlanViolation.QuotaExceeded
                    || found instanceof PlanViolation.CohortExceeded);
      }
    }
    return false;
  }

  /** Why a job may hold nothing whatever the policy thinks of it; empty if it may. */
  private Optional<Reason> bar(JobState job, Queue queue, Quotas quotas) {
    if (job.pinned()) {
      return Optional.empty();
    }
    boolean stopped =
        switch (queue.stop()) {
          case NONE -> false;
          case HOLD -> job.allocation().isEmpty();
          case HOLD_AND_DRAIN -> true;
        };
    if (stopped) {
      return Optional.of(
          job.allocation().isEmpty() && queue.stop() == StopPolicy.HOLD
              ? QuotaReasons.held(queue)
              : QuotaReasons.drained(queue));
    }
    QuotaAccount account = quotas.account(job);
    if (account == null) {
      return Optional.empty();
    }
    int least = Sizes.leastSlots(job.spec(), control);
    return least > account.ceiling()
        ? Optional.of(QuotaReasons.exceeds(account, least))
        : Optional.empty();
  }
}
