package dev.kastor.operator.kube;

import dev.kastor.crds.trainingjob.SpecDefaults;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Gives pods numbers that no pod of their job had before. */
@Singleton
public final class PodNumbers {
  private final StatusWriter writer;
  private final Map<String, Long> next;

  /** The first of the last numbers taken that no pod was made with. */
  private final Map<String, Long> unused;

  public PodNumbers(JobRecords records, StatusWriter writer) {
    next = records.part();
    unused = records.part();
    this.writer = writer;
  }

  /**
   * Takes numbers and stores how far they are taken before any pod has one; returns the first. A
   * job's first pods are an exception, for there are no names yet that could be used twice: they
   * say themselves which numbers are taken until the next patch does.
   *
   * @param free number above those of all pods that are there
   */
  public long reserve(TrainingJob job, long free, int count) {
    String uid = job.getMetadata().getUid();
    Long stored = stored(job);
    long taken = Math.max(stored == null ? 0 : stored, next.getOrDefault(uid, 0L));
    long first = Math.max(unused.getOrDefault(uid, taken), free);
    if (first + count <= taken) {
      unused.put(uid, first + count);
      return first;
    }
    unused.remove(uid);
    if (stored == null && taken == 0 && first == 0) {
      writer.postpone(job, Map.of("nextPod", (long) count));
    } else if (!writer.patch(job, Map.of("nextPod", first + count))) {
      throw new IllegalStateException("job %s is gone".formatted(Labels.id(job)));
    }
    next.put(uid, first + count);
    return first;
  }

  /**
   * Takes back the last numbers that were reserved, from this one on: the API server refused the
   * pod of the first and was not asked for the others.
   */
  public void giveBack(TrainingJob job, long from) {
    unused.put(job.getMetadata().getUid(), from);
  }

  /** The number above all that were given; as many as a job may have until its first is stored. */
  public long next(TrainingJob job) {
    Long stored = stored(job);
    Long own = next.get(job.getMetadata().getUid());
    if (stored == null && own == null) {
      var elastic = Objects.requireNonNull(SpecDefaults.complete(job.getSpec()).elastic());
      return Objects.requireNonNull(elastic.maxReplicas());
    }
    return Math.max(stored == null ? 0 : stored, own == null ? 0 : own);
  }

  private static @Nullable Long stored(TrainingJob job) {
    TrainingJobStatus status = job.getStatus();
    return status == null ? null : status.nextPod();
  }
}
