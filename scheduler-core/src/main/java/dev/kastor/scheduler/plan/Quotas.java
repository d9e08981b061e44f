package dev.kastor.scheduler.plan;

import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Snapshot;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The accounts of all queues that have a quota, by name. Owned by one planning call. */
public final class Quotas {
  private final SequencedMap<String, QuotaAccount> accounts;

  private Quotas(SequencedMap<String, QuotaAccount> accounts) {
    this.accounts = accounts;
  }

  /** Accounts on which nothing is taken yet. */
  public static Quotas of(Snapshot snapshot) {
    return of(snapshot.queues());
  }

  /** Accounts of these queues by name. */
  public static Quotas of(Map<String, Queue> queues) {
    SequencedMap<String, QuotaAccount> accounts = new LinkedHashMap<>();
    Map<String, QuotaAccount.Pool> pools = new TreeMap<>();
    new TreeMap<>(queues)
        .forEach((name, queue) ->
            queue
                .quota()
                .ifPresent(quota -> {
                  String cohort = queue.cohort();
                  QuotaAccount.Pool pool =
                      cohort.isEmpty()
                          ? new QuotaAccount.Pool("")
                          : pools.computeIfAbsent(cohort, QuotaAccount.Pool::new);
                  accounts.put(name, new QuotaAccount(queue, quota, pool));
                }));
    return new Quotas(accounts);
  }

  /** Whether no queue has a quota. */
  public boolean none() {
    return accounts.isEmpty();
  }

  /** The account of a queue; null if it has no quota. */
  public @Nullable QuotaAccount account(String queue) {
    return accounts.get(queue);
  }

  /** The account of a job's queue; null if that has no quota. */
  public @Nullable QuotaAccount account(JobState job) {
    return accounts.get(job.spec().queue());
  }

  /** All accounts, in the order of their names. */
  public Collection<QuotaAccount> all() {
    return accounts.values();
  }

  /** A job gets slots, or gives them back where negative. */
  public void take(JobState job, int slots) {
    QuotaAccount account = account(job);
    if (account != null) {
      account.take(slots);
    }
  }

  /** Slots more that a job may get now; negative where its queue holds too many. */
  public int room(JobState job) {
    QuotaAccount account = account(job);
    return account == null ? Integer.MAX_VALUE : account.room();
  }

  /** Gives up all claims: what nobody could take is free again. */
  public void dropClaims() {
    accounts.values().forEach(account -> account.claim(0));
  }
}
