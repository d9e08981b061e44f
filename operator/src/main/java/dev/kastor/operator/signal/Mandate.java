package dev.kastor.operator.signal;

import dev.kastor.operator.leader.Leadership;
import jakarta.inject.Singleton;
import java.time.Instant;

/**
 * Whether this operator leads, whether it may write, and since when it has led. Written by {@link
 * Leadership}, read by any thread.
 *
 * <p>The two differ when a leader cannot renew its lease, be it that the API server is away: it
 * goes on answering agents from memory, and writes nothing until the lease is renewed.
 */
@Singleton
public final class Mandate {
  private record Term(boolean forever, long writeUntil, Instant since) {}

  private static final Instant NEVER = Instant.MAX;

  private volatile Term term = new Term(false, System.nanoTime() - 1, NEVER);

  /** Whether this operator is the one that decides and answers. */
  public boolean leads() {
    return !term.since().equals(NEVER);
  }

  /** Whether it may change anything in the cluster. */
  public boolean mayWrite() {
    Term now = term;
    return leads() && (now.forever() || System.nanoTime() - now.writeUntil() < 0);
  }

  /** When it began to lead: what it knows it has heard since. Far in the future before that. */
  public Instant since() {
    return term.since();
  }

  /** Names the time in which this operator leads: who heard another name spoke to another. */
  public String term() {
    return Long.toString(since().toEpochMilli());
  }

  /** Leads from now on, with nobody to compete with. */
  public void forever(Instant now) {
    term = new Term(true, 0, now);
  }

  /** Leads, and may write until then. */
  public void extend(long writeUntilNanos, Instant now) {
    Term before = term;
    term = new Term(false, writeUntilNanos, before.since().equals(NEVER) ? now : before.since());
  }

  /** Writes no more, for good. */
  public void end() {
    term = new Term(false, System.nanoTime() - 1, term.since());
  }
}
