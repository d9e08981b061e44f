package dev.kastor.agent.trainer;

import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Time in which replicas that have just joined others are slow: they still compile their code, and
 * others that start take their processors. What a step takes meanwhile says nothing of what it will
 * take. A replica alone is never counted as cold: no other waits for it, and the first that is
 * known of a job is worth more than its exactness. Owned by one thread.
 */
final class ColdReplicas {
  private final Duration cold;
  private Set<String> trained = Set.of();
  private long warmNanos;

  /** None so far. Replicas that join others are cold for so long. */
  ColdReplicas(Duration cold) {
    this.cold = cold;
  }

  /** The members of a generation train from now on, in the terms of {@link System#nanoTime}. */
  void joined(Membership membership, long nowNanos) {
    Set<String> pods =
        membership.members().stream().map(Member::pod).collect(Collectors.toUnmodifiableSet());
    if (pods.size() == 1) {
      warmNanos = nowNanos;
    } else if (!trained.containsAll(pods)) {
      warmNanos = nowNanos + cold.toNanos();
    }
    trained = pods;
  }

  /** True once the members are warm. */
  boolean warm(long nowNanos) {
    return nowNanos - warmNanos >= 0;
  }
}
