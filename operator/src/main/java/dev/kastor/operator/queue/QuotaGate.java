package dev.kastor.operator.queue;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.plan.QuotaAccount;
import dev.kastor.scheduler.plan.Quotas;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Holds back starts and growth while what their queue or its cohort may hold is still held: by
 * replicas that are leaving, or by an allocation that could not be taken away yet. The end of each
 * such pod asks for another round, which decides on them again. Used for one round.
 *
 * <p>A job that moves trains on with its old replicas until the new ones are ready, and holds both
 * meanwhile. What its queue has room for beyond the change itself is for such replicas; where that
 * is not enough, old ones leave before new ones are made.
 */
public final class QuotaGate {
  /**
   * What a job holds of its queue.
   *
   * @param queue its queue
   * @param slots the larger of what it may come to hold and what its pods hold
   * @param byNode what its pods hold, by node
   */
  public record Holding(String queue, int slots, Map<String, Integer> byNode) {
    public Holding {
      byNode = Map.copyOf(byNode);
    }

    /**
     * What a job with these pods holds.
     *
     * @param given what it was given
     * @param atMost replicas that it may have while it moves; null without a limit
     * @param byNode what its pods hold, by node
     */
    public static Holding of(
        String queue, Allocation given, @Nullable Integer atMost, Map<String, Integer> byNode) {
      int held = byNode.values().stream().mapToInt(Integer::intValue).sum();
      boolean moves =
          byNode.entrySet().stream()
              .anyMatch(on -> on.getValue() > given.slotsByNode().getOrDefault(on.getKey(), 0));
      int coming = moves && atMost != null ? atMost * given.slotsPerReplica() : given.slots();
      return new Holding(queue, Math.max(held, coming), byNode);
    }
  }

  /**
   * A change that may be carried out.
   *
   * @param atMost replicas that the job may have at any moment; null without a limit
   */
  public record Open(Change change, @Nullable Integer atMost) {}

  private final Quotas quotas;
  private final Map<JobId, Holding> holdings;

  /** A gate before any change, with all jobs that hold something or are to. */
  public QuotaGate(Quotas quotas, Map<JobId, Holding> holdings) {
    this.quotas = quotas;
    this.holdings = holdings;
    holdings.values().forEach(holding -> take(holding.queue(), holding.slots()));
  }

  /** The changes that may be carried out now, in their order. */
  public List<Open> open(List<Change> changes) {
    Map<JobId, Integer> held = new HashMap<>();
    for (Change change : changes) {
      Holding holding = holdings.get(change.job());
      QuotaAccount account = holding == null ? null : quotas.account(holding.queue());
      int more = holding == null ? 0 : change.to().slots() - holding.slots();
      if (holding == null || account == null || more <= 0 || more <= account.room()) {
        int extra = Math.max(0, more);
        held.put(change.job(), holding == null ? extra : holding.slots() + extra);
        if (account != null) {
          account.take(extra);
        }
      }
    }
    // Only now, so that no start waits for what eases a move.
    return changes.stream()
        .filter(change -> held.containsKey(change.job()))
        .map(change -> new Open(change, atMost(change, held.getOrDefault(change.job(), 0))))
        .toList();
  }

  /**
   * Replicas that it may have at once: all of the old and the new if there is room, else as many as
   * it has.
   */
  private @Nullable Integer atMost(Change change, int held) {
    Holding holding = holdings.get(change.job());
    QuotaAccount account = holding == null ? null : quotas.account(holding.queue());
    if (holding == null || account == null || change.to().isEmpty()) {
      return null;
    }
    Map<String, Integer> both = new HashMap<>(holding.byNode());
    change.to().slotsByNode().forEach((node, slots) -> both.merge(node, slots, Math::max));
    int wanted = both.values().stream().mapToInt(Integer::intValue).sum() - held;
    int granted = Math.clamp(account.room(), 0, Math.max(0, wanted));
    account.take(granted);
    return (held + granted) / change.to().slotsPerReplica();
  }

  private void take(String queue, int slots) {
    QuotaAccount account = quotas.account(queue);
    if (account != null) {
      account.take(slots);
    }
  }
}
