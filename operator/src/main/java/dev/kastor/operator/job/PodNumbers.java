package dev.kastor.operator.job;

import dev.kastor.crds.TrainingJob;
import dev.kastor.crds.TrainingJobStatus;
import dev.kastor.operator.cluster.Labels;
import dev.kastor.operator.cluster.StatusWriter;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Gives pods numbers that no pod of their job had before. */
@Singleton
public final class PodNumbers {
  private final StatusWriter writer;
  private final Map<String, Long> next = new ConcurrentHashMap<>();

  public PodNumbers(StatusWriter writer) {
    this.writer = writer;
  }

  /**
   * Takes numbers and stores how far they are taken before any pod has one; returns the first. A
   * job's first pods are an exception, for there are no names yet that could be used twice: they
   * say themselves which numbers are taken until the next patch does.
   */
  long reserve(TrainingJob job, List<PodView> views, int count) {
    String uid = job.getMetadata().getUid();
    TrainingJobStatus status = job.getStatus();
    Long stored = status == null ? null : status.nextPod();
    long first = Math.max(stored == null ? 0 : stored, next.getOrDefault(uid, 0L));
    for (PodView pod : views) {
      first = Math.max(first, pod.number() + 1);
    }
    if (stored == null && first == 0) {
      writer.postpone(job, Map.of("nextPod", (long) count));
    } else if (!writer.patch(job, Map.of("nextPod", first + count))) {
      throw new IllegalStateException("job %s is gone".formatted(Labels.id(job)));
    }
    next.put(uid, first + count);
    return first;
  }

  /** Forgets a job that is gone. */
  void forget(String uid) {
    next.remove(uid);
  }
}
