package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.HasMetadata;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

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

  /** Where they keep coming, those who have their GPUs must not wait for ever. */
  static final Duration LONGEST = Duration.ofMinutes(4);

  private final Set<String> uids = ConcurrentHashMap.newKeySet();
  private final InstantSource clock;
  private volatile @Nullable Instant since;

  public Newcomers(InstantSource clock) {
    this.clock = clock;
  }

  /** The job was created. */
  public void came(HasMetadata job) {
    uids.add(job.getMetadata().getUid());
    if (since == null && uids.size() > MANY) {
      since = clock.instant();
    }
  }

  /** Somebody looked at the job, or it is gone. */
  public void met(HasMetadata job) {
    uids.remove(job.getMetadata().getUid());
    if (uids.size() <= MANY) {
      since = null;
    }
  }

  /** Whether so many wait for their first look that all else should, for some minutes at most. */
  public boolean many() {
    Instant began = since;
    return began != null && moreThan(MANY) && clock.instant().isBefore(began.plus(LONGEST));
  }

  /** Whether more than so many wait for their first look. */
  public boolean moreThan(int count) {
    return uids.size() > count;
  }
}
