package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Map;

/**
 * Memory of the text last told about each job, so that a round does not tell it again. Holds one
 * hash for a job, however often its owner changes the text. Thread-safe.
 */
public final class ToldLast {
  private final Map<String, Integer> byUid;

  public ToldLast(JobRecords records) {
    byUid = records.part();
  }

  /** Whether this differs from what was last said of the job. */
  public boolean isNew(HasMetadata job, String text) {
    Integer before = byUid.put(job.getMetadata().getUid(), text.hashCode());
    return before == null || before != text.hashCode();
  }
}
