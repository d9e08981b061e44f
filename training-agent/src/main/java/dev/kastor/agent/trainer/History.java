package dev.kastor.agent.trainer;

import dev.kastor.protocol.ReplicaStart;
import java.util.Optional;

/** What this replica lived through, as far as the next change of members needs it. */
final class History {
  private long lineage = JoinHeader.NONE;
  private int replicas;
  private boolean broken;
  private long sinceNanos = System.nanoTime();
  private ReplicaStart.Source source = ReplicaStart.Source.INITIAL;
  private long stateNanos;
  private long agreedNanos;

  /** Our first state is there; it took so long. */
  void began(ReplicaStart.Source from, long nanos) {
    source = from;
    stateNanos = nanos;
  }

  /** The state is of our own making: fresh or from a checkpoint. */
  void startedAlone() {
    lineage = JoinHeader.FROM_START;
  }

  /** All members of a generation hold the same state. */
  void agreed(long generation) {
    lineage = generation;
    agreedNanos = System.nanoTime();
  }

  /** A step of a ring of this size is applied; after our first one, how our start ended. */
  Optional<ReplicaStart> stepped(int members) {
    boolean first = replicas == 0;
    replicas = members;
    broken = false;
    sinceNanos = System.nanoTime();
    return first
        ? Optional.of(ReplicaStart.measured(source, stateNanos, sinceNanos - agreedNanos))
        : Optional.empty();
  }

  /** The ring broke. */
  void broke() {
    broken = true;
  }

  /** Before the first step, the pause begins when we learn that we should start. */
  void called() {
    if (replicas == 0) {
      sinceNanos = System.nanoTime();
    }
  }

  JoinHeader header(Replica replica, int differences) {
    boolean has = replica.hasState();
    return new JoinHeader(
        has ? lineage : JoinHeader.NONE,
        has ? replica.step() : -1,
        has ? StateDigest.of(replica.state()) : 0,
        replicas,
        broken,
        (System.nanoTime() - sinceNanos) * 1e-9,
        differences);
  }
}
