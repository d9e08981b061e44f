package dev.kastor.scheduler.policy.quota;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.plan.QuotaAccount;
import dev.kastor.scheduler.plan.Quotas;
import dev.kastor.scheduler.policy.support.Sizes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.ToDoubleFunction;

/**
 * Takes from queues what they may not hold, at the least loss of work: first what has not begun,
 * growth and then starts, those last in the policy's order first; then running jobs shrink, the
 * cheapest pause first; then they stop, the least lost work first. Pinned jobs stay. Owned by one
 * planning call.
 */
final class QuotaCut {
  private final Quotas quotas;
  private final Control control;
  private final List<JobState> jobs = new ArrayList<>();
  private final Map<JobId, Allocation> given;
  private final Map<JobId, Reason> reasons;

  /**
   * What is to be cut.
   *
   * @param quotas with all that is given taken, and what is claimed
   * @param order jobs in the policy's order
   * @param given what each gets; changed
   * @param reasons why; set where something is cut
   */
  QuotaCut(
      Quotas quotas,
      Control control,
      List<JobState> order,
      Map<JobId, Allocation> given,
      Map<JobId, Reason> reasons) {
    this.quotas = quotas;
    this.control = control;
    this.given = given;
    this.reasons = reasons;
    for (JobState job : order) {
      if (!job.pinned() && quotas.room(job) < 0 && slots(job) > 0) {
        jobs.add(job);
      }
    }
  }

  void cut() {
    for (JobState job : jobs.reversed()) {
      int held = job.allocation().slots();
      if (held > 0 && slots(job) > held) {
        shrink(job, held);
      }
    }
    for (JobState job : jobs.reversed()) {
      if (job.allocation().isEmpty()) {
        boolean shrunk = control != Control.PLACEMENT && shrink(job, least(job));
        if (!shrunk) {
          stop(job);
        }
      }
    }
    if (control != Control.PLACEMENT) {
      for (JobState job : cheapestFirst(QuotaCut::shrinkCost)) {
        shrink(job, least(job));
      }
    }
    for (JobState job : cheapestFirst(QuotaCut::stopCost)) {
      stop(job);
    }
  }

  /** GPU-seconds of a pause in which the job changes its size. */
  private static double shrinkCost(JobState job) {
    return job.rescaleCost().toNanos() * 1e-9 * job.allocation().slots();
  }

  /** GPU-seconds of starting again, and of what it has trained since it last saved its state. */
  private static double stopCost(JobState job) {
    return job.restartCost().plus(job.unsaved()).toNanos() * 1e-9 * job.allocation().slots();
  }

  private List<JobState> cheapestFirst(ToDoubleFunction<JobState> cost) {
    List<JobState> running = new ArrayList<>();
    for (JobState job : jobs.reversed()) {
      if (quotas.room(job) < 0 && slots(job) > 0) {
        running.add(job);
      }
    }
    running.sort(Comparator.comparingDouble(cost));
    return running;
  }

  /**
   * Brings a job down as far as its queue needs, to this many slots at least; true if its queue
   * then is within its quota or the job at an allowed size of fewer slots.
   */
  private boolean shrink(JobState job, int floor) {
    int excess = -quotas.room(job);
    if (excess <= 0) {
      return true;
    }
    Allocation now = allocation(job);
    int each = now.slotsPerReplica();
    int wanted = Math.max(floor, now.slots() - excess) / each;
    if (wanted >= now.replicas()) {
      return false;
    }
    for (int replicas = wanted; replicas * each >= Math.max(floor, 1); replicas--) {
      if (job.spec().elasticity().allows(replicas)) {
        give(job, fewer(now, replicas));
        return quotas.room(job) >= 0;
      }
    }
    return false;
  }

  private void stop(JobState job) {
    if (quotas.room(job) < 0 && slots(job) > 0) {
      give(job, Allocation.NONE);
    }
  }

  private void give(JobState job, Allocation less) {
    QuotaAccount account = Objects.requireNonNull(quotas.account(job));
    account.take(less.slots() - slots(job));
    given.put(job.id(), less);
    int held = job.allocation().slots();
    SequencedMap<String, Double> none = new LinkedHashMap<>();
    if (held == 0 && less.isEmpty()) {
      reasons.put(job.id(), QuotaReasons.waits(account, least(job), none));
    } else if (less.slots() < held) {
      reasons.put(job.id(), QuotaReasons.reclaimed(account, none));
    } else {
      reasons.put(job.id(), QuotaReasons.atQuota(account, none));
    }
  }

  private Allocation allocation(JobState job) {
    return Objects.requireNonNull(given.get(job.id()));
  }

  private int slots(JobState job) {
    return allocation(job).slots();
  }

  private int least(JobState job) {
    return Sizes.leastSlots(job.spec(), control);
  }

  /** Fewer replicas on the same nodes, those with fewest given up first. */
  private static Allocation fewer(Allocation now, int replicas) {
    int[] left = now.replicaCounts();
    for (int over = now.replicas() - replicas; over > 0; ) {
      int fewest = -1;
      for (int i = 0; i < left.length; i++) {
        fewest = left[i] > 0 && (fewest < 0 || left[i] <= left[fewest]) ? i : fewest;
      }
      int gone = Math.min(over, left[fewest]);
      left[fewest] -= gone;
      over -= gone;
    }
    SequencedMap<String, Integer> kept = new LinkedHashMap<>();
    for (int i = 0; i < left.length; i++) {
      if (left[i] > 0) {
        kept.put(now.node(i), left[i]);
      }
    }
    return new Allocation(kept, now.slotsPerReplica());
  }
}
