package dev.kastor.scheduler.plan;

import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;

/**
 * What the jobs of one queue hold of its quota while a plan is made or checked.
 *
 * <p>A queue of a cohort holds what it keeps for itself first and <em>draws</em> on the cohort's
 * pool, what all of its queues lend, beyond that. So its usage is legal if it is at most nominal
 * plus borrowing limit, and all draws together are at most the pool; then the cohort's usage is at
 * most the sum of its quotas, and each queue may have its nominal quota at any time. A
 * <em>claim</em> keeps draws free for a queue that is going to take them. All calls take constant
 * time. Owned by one planning call.
 */
public final class QuotaAccount {
  /** What the queues of one cohort lend each other, in slots. */
  static final class Pool {
    final String cohort;
    long lent;
    long drawn;
    long nominal;
    long used;

    Pool(String cohort) {
      this.cohort = cohort;
    }
  }

  private final Queue queue;
  private final Quota quota;
  private final Pool pool;
  private final long most;
  private int used;
  private int claim;

  QuotaAccount(Queue queue, Quota quota, Pool pool) {
    this.queue = queue;
    this.quota = quota;
    this.pool = pool;
    boolean alone = queue.cohort().isEmpty();
    most = (long) quota.gpus() + (alone ? 0 : quota.borrowingLimit());
    // Who lends to nobody keeps all for itself, so a queue of no cohort draws nothing.
    pool.lent += quota.lendable();
    pool.nominal += quota.gpus();
  }

  public Queue queue() {
    return queue;
  }

  /** Slots that its jobs hold. */
  public int used() {
    return used;
  }

  /** Slots that it is entitled to. */
  public int nominal() {
    return quota.gpus();
  }

  /** Slots that its jobs hold beyond its quota. */
  public int borrowed() {
    return Math.max(0, used - quota.gpus());
  }

  /** Slots that its cohort holds, and those it is entitled to; its own where it has none. */
  public long usedByCohort() {
    return pool.used;
  }

  /** Slots that all of its cohort are entitled to together. */
  public long nominalOfCohort() {
    return pool.nominal;
  }

  /** Most slots that it could ever hold, were its cohort idle. */
  public int ceiling() {
    return clamp(Math.min(most, quota.reserved() + pool.lent));
  }

  /** Slots that it has claimed. */
  public int claimed() {
    return claim;
  }

  /** Its jobs get slots, or give them back where negative. */
  public void take(int slots) {
    pool.drawn -= effective();
    used += slots;
    pool.used += slots;
    pool.drawn += effective();
  }

  /** Keeps slots free for it, up to its quota; those that it holds already count as well. */
  public void claim(int slots) {
    pool.drawn -= effective();
    claim = Math.clamp(slots, 0, quota.gpus());
    pool.drawn += effective();
  }

  /** Slots more that its jobs may get now; negative where they hold too many. */
  public int room() {
    long free = pool.lent - pool.drawn;
    long draws = Math.max(0, effective() + free);
    return clamp(Math.min(most, quota.reserved() + draws) - used);
  }

  /** Whether its own limit keeps it, and not that its cohort has nothing left. */
  public boolean atOwnLimit() {
    return used >= most;
  }

  /** Most slots that it may hold by its own limits, whoever else holds what. */
  public long most() {
    return most;
  }

  /** What it draws on its cohort with so many slots. */
  public long draws(long slots) {
    return Math.max(0, slots - quota.reserved());
  }

  /** What the queues of its cohort lend each other. */
  public long lentByCohort() {
    return pool.lent;
  }

  Pool pool() {
    return pool;
  }

  private long effective() {
    return Math.max(0, Math.max(used, claim) - quota.reserved());
  }

  private static int clamp(long slots) {
    return Math.clamp(slots, Integer.MIN_VALUE, Integer.MAX_VALUE);
  }
}
