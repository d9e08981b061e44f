package dev.kastor.operator.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Memory of the text last told about each job, so that a round does not tell it again. Holds one
 * hash for a job, however often its owner changes the text. Thread-safe.
 */
final class ToldLast {
  private final Map<String, Integer> byUid = new ConcurrentHashMap<>();

  /** Whether this differs from what was last said of the job. */
  boolean isNew(HasMetadata job, String text) {
    Integer before = byUid.put(job.getMetadata().getUid(), text.hashCode());
    return before == null || before != text.hashCode();
  }

  /** Forgets all jobs but these. */
  void keep(Collection<? extends HasMetadata> jobs) {
    if (!byUid.isEmpty()) {
      byUid
          .keySet()
          .retainAll(
              jobs.stream().map(job -> job.getMetadata().getUid()).collect(Collectors.toSet()));
    }
  }
}
