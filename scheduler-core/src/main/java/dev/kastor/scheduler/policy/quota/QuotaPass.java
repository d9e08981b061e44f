package dev.kastor.scheduler.policy.quota;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.QuotaAccount;
import dev.kastor.scheduler.plan.Quotas;
import dev.kastor.scheduler.policy.support.FreeSlots;
import dev.kastor.scheduler.policy.support.Sizes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * Makes a plan keep quotas that its policy knows nothing of.
 *
 * <p>A queue is entitled to its quota before any other borrows of it: it claims what its planned
 * jobs and the least sizes of its waiting ones take. What is over is cut as {@link QuotaCut} says.
 * What that frees goes to whom the quotas let in, in the policy's own order. A plan that keeps the
 * quotas and lets nobody wait for one is left as it is. Takes time in proportion to the jobs, but
 * for sorting those that are cut. Owned by one planning call.
 */
final class QuotaPass {
  private static final Reason KEPT = Reason.of("Kept", "Its queue has room for it as it is.");
  private static final Reason LET_IN =
      Reason.of("Started", "Its queue has room for it that others may not use.");

  private final Snapshot snapshot;
  private final Plan plan;
  private final Control control;
  private final Quotas quotas;
  private final List<JobState> order = new ArrayList<>();
  private final Map<JobId, Allocation> given = new HashMap<>();
  private final Map<JobId, Reason> reasons = new HashMap<>();

  QuotaPass(Snapshot snapshot, Plan plan, Control control) {
    this.snapshot = snapshot;
    this.plan = plan;
    this.control = control;
    quotas = Quotas.of(snapshot);
  }

  /** The plan, within the quotas. */
  Plan kept() {
    for (JobState job : snapshot.jobs()) {
      quotas.take(job, plan.allocation(job.id()).slots());
    }
    claim();
    if (!concerned()) {
      return plan;
    }
    put();
    new QuotaCut(quotas, control, order, given, reasons).cut();
    fill();
    return result();
  }

  /** Each queue claims what it could use of its own. */
  private void claim() {
    Map<String, Long> wanted = new HashMap<>();
    for (JobState job : snapshot.jobs()) {
      QuotaAccount account = quotas.account(job);
      if (account != null) {
        int planned = plan.allocation(job.id()).slots();
        long want = planned > 0 ? planned : Sizes.leastSlots(job.spec(), control);
        wanted.merge(account.queue().name(), want, Long::sum);
      }
    }
    for (QuotaAccount account : quotas.all()) {
      long wish = wanted.getOrDefault(account.queue().name(), 0L);
      account.claim((int) Math.min(wish, account.nominal()));
    }
  }

  /** Whether a queue has too much, or a job waits that its quota keeps waiting. */
  private boolean concerned() {
    for (QuotaAccount account : quotas.all()) {
      if (account.room() < 0) {
        return true;
      }
    }
    for (JobState job : snapshot.jobs()) {
      QuotaAccount account = quotas.account(job);
      if (account != null
          && plan.allocation(job.id()).isEmpty()
          && Sizes.leastSlots(job.spec(), control) > account.room()) {
        return true;
      }
    }
    return false;
  }

  /** All jobs in the policy's order: as its plan names them, then the others as they came. */
  private void put() {
    Map<JobId, JobState> unnamed = new LinkedHashMap<>();
    snapshot.jobs().forEach(job -> unnamed.put(job.id(), job));
    for (JobId id : plan.assignments().keySet()) {
      JobState job = unnamed.remove(id);
      if (job != null) {
        order.add(job);
      }
    }
    order.addAll(unnamed.values());
    for (JobState job : order) {
      given.put(job.id(), plan.allocation(job.id()));
    }
  }

  private Allocation given(JobState job) {
    return Objects.requireNonNull(given.get(job.id()));
  }

  private void fill() {
    FreeSlots free = new FreeSlots(snapshot.nodes());
    given.values().forEach(free::take);
    start(free);
    // What those who claimed it found no nodes for is free to all.
    quotas.dropClaims();
    for (JobState job : order) {
      restore(job, free);
    }
    start(free);
    for (JobState job : order) {
      QuotaAccount account = quotas.account(job);
      int least = Sizes.leastSlots(job.spec(), control);
      if (account != null && given(job).isEmpty() && least > account.room()) {
        Reason planned = reasons.getOrDefault(job.id(), plan.reason(job.id()));
        if (!planned.code().equals("Reclaimed")) {
          reasons.put(job.id(), QuotaReasons.waits(account, least, new LinkedHashMap<>()));
        }
      }
    }
  }

  /** Gives back what a job lost to a claim, where it can be had. */
  private void restore(JobState job, FreeSlots free) {
    Allocation planned = plan.allocation(job.id());
    Allocation now = given(job);
    int missing = planned.slots() - now.slots();
    if (missing <= 0 || missing > quotas.room(job)) {
      return;
    }
    free.give(now);
    if (free.takeIfFree(planned)) {
      quotas.take(job, missing);
      given.put(job.id(), planned);
      reasons.remove(job.id());
    } else {
      free.take(now);
    }
  }

  /** Lets in who got nothing and fits: first those who run, as they are, then the others. */
  private void start(FreeSlots free) {
    for (JobState job : order) {
      if (given(job).isEmpty()
          && !job.allocation().isEmpty()
          && job.allocation().slots() <= quotas.room(job)
          && free.keepAtAnySize(job.allocation(), job.spec())) {
        give(job, job.allocation(), KEPT);
      }
    }
    int left = free.left();
    for (JobState job : order) {
      if (left == 0) {
        return;
      }
      int replicas = control == Control.PLACEMENT ? Sizes.requested(job.spec()) : fewest(job);
      int least = Sizes.leastSlots(job.spec(), control);
      if (given(job).isEmpty()
          && least <= left
          && least <= quotas.room(job)
          && job.spec().elasticity().allows(replicas)) {
        Optional<Allocation> place = free.place(job.spec(), replicas, quotas.room(job));
        if (place.isPresent()) {
          give(job, place.get(), LET_IN);
          left -= place.get().slots();
        }
      }
    }
  }

  private void give(JobState job, Allocation allocation, Reason reason) {
    quotas.take(job, allocation.slots());
    given.put(job.id(), allocation);
    reasons.put(job.id(), reason);
  }

  private static int fewest(JobState job) {
    return Sizes.fewest(job.spec().elasticity());
  }

  private Plan result() {
    SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();
    for (JobState job : order) {
      Reason reason = reasons.getOrDefault(job.id(), plan.reason(job.id()));
      assignments.put(job.id(), new Plan.Assignment(given(job), reason));
    }
    return new Plan(assignments, plan.otherwise());
  }
}
