package dev.kastor.operator.cluster;

import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.Change;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.QuotaAccount;
import dev.kastor.scheduler.Quotas;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Holds back starts and growth while what their queue or its cohort may hold is still held: by
 * replicas that are leaving, or by an allocation that could not be taken away yet. The end of each
 * such pod asks for another round, which decides on them again. Used for one round.
 */
final class QuotaGate {
  /**
   * What a job holds of its queue.
   *
   * @param queue its queue
   * @param slots the larger of what was given to it and what its pods hold
   */
  record Holding(String queue, int slots) {}

  private final Quotas quotas;
  private final Map<JobId, Holding> holdings;

  /** A gate before any change, with all jobs that hold something or are to. */
  QuotaGate(Quotas quotas, Map<JobId, Holding> holdings) {
    this.quotas = quotas;
    this.holdings = holdings;
    holdings.values().forEach(holding -> take(holding.queue(), holding.slots()));
  }

  /** The changes that may be carried out now, in their order. */
  List<Change> open(List<Change> changes) {
    List<Change> open = new ArrayList<>();
    for (Change change : changes) {
      Holding holding = holdings.get(change.job());
      int more = holding == null ? 0 : target(change).replicas() - holding.slots();
      QuotaAccount account = holding == null ? null : quotas.account(holding.queue());
      if (account == null || more <= 0 || more <= account.room()) {
        open.add(change);
        if (holding != null && more > 0) {
          take(holding.queue(), more);
        }
      }
    }
    return open;
  }

  private void take(String queue, int slots) {
    QuotaAccount account = quotas.account(queue);
    if (account != null) {
      account.take(slots);
    }
  }

  /** What a job has after a change. */
  static Allocation target(Change change) {
    return switch (change) {
      case Change.Start start -> start.to();
      case Change.Rescale rescale -> rescale.to();
      case Change.Migrate migrate -> migrate.to();
      case Change.Stop stop -> Allocation.NONE;
    };
  }
}
