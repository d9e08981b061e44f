package dev.kastor.operator.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import jakarta.inject.Singleton;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Jobs that nobody has looked at yet. While many come at once, each is first told that it is seen
 * and why it waits; decisions and pods come after that. Thread-safe.
 */
@Singleton
public final class Newcomers {
  /**
   * Fewer are looked at within a moment, so nobody has to step back for them. The last hundred of
   * ten thousand would wait for more than a minute behind all the others' pods.
   */
  static final int MANY = 10;

  private final Set<String> uids = ConcurrentHashMap.newKeySet();

  /** The job was created. */
  public void came(HasMetadata job) {
    uids.add(job.getMetadata().getUid());
  }

  /** Somebody looked at the job, or it is gone. */
  public void met(HasMetadata job) {
    uids.remove(job.getMetadata().getUid());
  }

  /** Whether so many wait for their first look that all else should. */
  public boolean many() {
    return moreThan(MANY);
  }

  /** Whether more than so many wait for their first look. */
  boolean moreThan(int count) {
    return uids.size() > count;
  }
}
