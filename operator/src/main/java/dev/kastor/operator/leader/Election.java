package dev.kastor.operator.leader;

import dev.kastor.operator.leader.LeaseStore.Holding;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * One candidate in an election over a lease.
 *
 * <p>Compares no clocks of different machines: a lease has run out when this candidate saw no
 * renewal for its whole duration. Used by one thread.
 */
final class Election {
  /** How a candidate stands. */
  enum Standing {
    /** Somebody else leads, or nobody yet. */
    STANDBY,
    /** The lease is ours and was renewed in time. */
    LEADING,
    /** The lease was ours, could not be renewed, and nobody is known to have it. */
    ADRIFT,
    /** The lease was ours and is not any more. */
    LOST
  }

  private final LeaseStore store;
  private final String identity;
  private final Timings timings;
  private final LongSupplier nanos;
  private Optional<Holding> own = Optional.empty();
  private boolean held;
  private boolean lost;
  private long writeUntil;
  private String seenVersion = "";
  private long seenSince;
  private String seenHolder = "";

  /**
   * @param identity unique among processes that live at the same time
   * @param nanos a clock that never jumps
   */
  Election(LeaseStore store, String identity, Timings timings, LongSupplier nanos) {
    this.store = store;
    this.identity = identity;
    this.timings = timings;
    this.nanos = nanos;
    seenSince = nanos.getAsLong();
  }

  /** Looks at the lease and takes or renews it if that is right; throws what the store throws. */
  Standing attempt() {
    long now = nanos.getAsLong();
    if (standing() == Standing.LEADING && own.isPresent()) {
      // One request where two would do: on a busy API server each may take a while. If somebody
      // else has written meanwhile, this writes nothing.
      claim(own, identity, now);
      if (own.isPresent()) {
        return standing();
      }
    }
    Optional<Holding> found = store.read();
    String holder = found.map(Holding::holder).orElse("");
    seenHolder = holder;
    if (held && found.isPresent() && !holder.equals(identity)) {
      lost = true;
    } else if (held || free(found, holder, now)) {
      claim(found, holder, now);
    }
    return standing();
  }

  /** Who had the lease at the last look; empty if nobody. */
  String holder() {
    return seenHolder;
  }

  /** How we stand now, whether or not the store answers. */
  Standing standing() {
    if (lost) {
      return Standing.LOST;
    }
    if (!held) {
      return Standing.STANDBY;
    }
    return nanos.getAsLong() - writeUntil < 0 ? Standing.LEADING : Standing.ADRIFT;
  }

  /** Until when, on the clock of the constructor, we may write; meaningless while on standby. */
  long writeUntil() {
    return writeUntil;
  }

  /** Gives the lease back, so that the next need not wait until it runs out. */
  void release() {
    Optional<Holding> found = store.read();
    if (held && !lost && found.isPresent() && found.get().holder().equals(identity)) {
      var _ = store.write(found.get(), "", found.get().transitions(), timings.lease());
    }
    lost = held;
  }

  /** A lease of our own name is that of an earlier process of this pod, which is gone. */
  private boolean free(Optional<Holding> found, String holder, long now) {
    String version = found.map(Holding::version).orElse("");
    if (!version.equals(seenVersion)) {
      seenVersion = version;
      seenSince = now;
    }
    if (holder.isEmpty() || holder.equals(identity)) {
      return true;
    }
    long promised = found.map(Holding::duration).orElse(timings.lease()).toNanos();
    return now - seenSince >= Math.max(promised, timings.lease().toNanos());
  }

  private void claim(Optional<Holding> found, String holder, long now) {
    int before = found.map(Holding::transitions).orElse(0);
    boolean renewal = held && holder.equals(identity);
    own = store.write(found.orElse(null), identity, renewal ? before : before + 1, timings.lease());
    if (own.isPresent()) {
      held = true;
      // Counted from before the question, for others may count from the answer.
      writeUntil = now + timings.deadline().toNanos();
    }
  }
}
