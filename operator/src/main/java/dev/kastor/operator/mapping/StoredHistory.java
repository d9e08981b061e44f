package dev.kastor.operator.mapping;

import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.HeldStatus;
import dev.kastor.operator.kube.StoredTime;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllocationHistory;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Allocation history of a job as its status holds it, so that an operator that starts anew goes on
 * with it.
 */
public final class StoredHistory {
  private StoredHistory() {}

  /**
   * The history up to a stored allocation. What a status cannot say truthfully counts as nothing: a
   * status may be older than this field, or written by another hand.
   */
  public static AllocationHistory of(@Nullable AllocationStatus stored) {
    if (stored == null) {
      return AllocationHistory.NONE;
    }
    Allocation allocation = JobMapper.allocation(stored);
    Optional<Instant> since = StoredTime.of(stored.since());
    int least = allocation.isEmpty() ? 0 : 1;
    HeldStatus held = stored.held();
    if (held == null) {
      Optional<Instant> heldSince = allocation.isEmpty() ? Optional.empty() : since;
      return new AllocationHistory(allocation, since, heldSince, least, 0);
    }
    double seconds = held.gpuSeconds();
    return new AllocationHistory(
        allocation,
        since,
        allocation.isEmpty() ? Optional.empty() : StoredTime.of(held.since()).or(() -> since),
        Math.max(least, held.starts()),
        seconds > 0 && Double.isFinite(seconds) ? seconds : 0);
  }

  /** Part of a history that is stored beside its present allocation. */
  public static HeldStatus held(AllocationHistory history) {
    return new HeldStatus(
        history.starts(),
        history.heldSince().map(Instant::toString).orElse(null),
        history.servedSeconds());
  }
}
