package dev.kastor.operator.telemetry;

import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.goodput.BatchLimits;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Limits of one job's batches by what fits a device, for each GPU type: as replicas tell them, and
 * as those that ran out of memory found them. A limit never rises again, so that a job does not
 * meet it twice. Owned by the job's telemetry.
 */
final class MemoryLimits {
  /** Most GPU types that are remembered. */
  private static final int MOST_TYPES = 32;

  private final BatchLimits limits;
  private final Map<String, Integer> most = new TreeMap<>();
  private final Map<String, Integer> trained = new HashMap<>();

  /**
   * Limits of a job.
   *
   * @param stored those that an earlier operator knew
   */
  MemoryLimits(BatchLimits limits, @Nullable Map<String, Integer> stored) {
    this.limits = limits;
    if (stored != null) {
      stored.forEach((type, examples) -> {
        if (examples != null) {
          var _ = fits(type, examples);
        }
      });
    }
  }

  /** Largest batch of a pass by GPU type; types without a limit are not listed. */
  Map<String, Integer> most() {
    return Map.copyOf(most);
  }

  /** Steps with a batch show that it fits. */
  void trained(StepProfile profile) {
    if (trained.size() < MOST_TYPES || trained.containsKey(profile.typeOrEmpty())) {
      trained.merge(profile.typeOrEmpty(), profile.atomicBatchSize(), Math::max);
    }
  }

  /** So many examples fit, no more; whether that is news. */
  boolean fits(String gpuType, int examples) {
    int now = Math.max(limits.minAtomicBatch(), examples);
    boolean lower = now < most.getOrDefault(gpuType, limits.maxAtomicBatch());
    if (lower && (most.size() < MOST_TYPES || most.containsKey(gpuType))) {
      most.put(gpuType, now);
      return true;
    }
    return false;
  }

  /**
   * So many examples did not fit: the next try is half way to the largest batch that was trained
   * with, since each try costs a start; whether that is news.
   */
  boolean outOfMemory(String gpuType, int examples) {
    int fitted = trained.getOrDefault(gpuType, 0);
    int known = fitted < examples ? fitted : 0;
    return fits(gpuType, Math.max(1, known + (examples - known) / 2));
  }
}
