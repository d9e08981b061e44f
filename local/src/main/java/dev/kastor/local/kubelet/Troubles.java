package dev.kastor.local.kubelet;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pods that could not be brought forward: each is tried again later and later, and named in the log
 * at most once a minute. Owned by the kubelet's thread.
 */
final class Troubles {
  private static final Logger LOG = LoggerFactory.getLogger(Troubles.class);
  private static final Duration SHORTEST = Duration.ofMillis(200);
  private static final Duration LONGEST = Duration.ofSeconds(10);
  private static final long LOG_NANOS = Duration.ofMinutes(1).toNanos();

  private final Map<String, Trouble> byUid = new HashMap<>();

  /** Whether a pod is to be left alone at this moment. */
  boolean wait(String uid) {
    Trouble trouble = byUid.get(uid);
    return trouble != null && System.nanoTime() - trouble.nextNanos < 0;
  }

  void add(String uid, String pod, String why) {
    long now = System.nanoTime();
    Trouble before =
        byUid.getOrDefault(uid, new Trouble(SHORTEST.dividedBy(2), now, now - LOG_NANOS));
    boolean log = now - before.loggedNanos >= LOG_NANOS;
    if (log) {
      LOG.warn("{}: {}; it is tried again", pod, why);
    }
    Duration doubled = before.pause.multipliedBy(2);
    Duration pause = doubled.compareTo(LONGEST) > 0 ? LONGEST : doubled;
    byUid.put(uid, new Trouble(pause, now + pause.toNanos(), log ? now : before.loggedNanos));
  }

  void clear(String uid) {
    byUid.remove(uid);
  }

  void keepOnly(Set<String> uids) {
    byUid.keySet().retainAll(uids);
  }

  /**
   * Failures of one pod.
   *
   * @param pause how long it is left alone
   * @param nextNanos when it is tried again
   * @param loggedNanos when the log named it last
   */
  private record Trouble(Duration pause, long nextNanos, long loggedNanos) {}
}
