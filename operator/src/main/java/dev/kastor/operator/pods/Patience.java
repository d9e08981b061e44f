package dev.kastor.operator.pods;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * When a replica that says nothing is given up.
 *
 * <p>One that has never spoken may still be starting. On a node whose processors are all busy that
 * takes minutes, and a new pod would begin anew and be no quicker: given up too soon, a job on such
 * a node would never start.
 *
 * @param silence how long a replica that has spoken may say nothing
 */
public record Patience(Duration silence) {
  private static final int TIMES_FOR_A_START = 4;

  /**
   * For how long it has said nothing, if that is too long.
   *
   * @param heard when it last spoke; empty if it never did
   * @param created when its pod was made
   * @param listening since when this operator leads
   * @param awake since when it has run without a standstill: what was said meanwhile is lost
   */
  public Optional<Duration> exceeded(
      Optional<Instant> heard, Instant created, Instant listening, Instant awake, Instant now) {
    Instant from = listening.isBefore(awake) ? awake : listening;
    Instant last = heard.orElse(created);
    Duration silent = Duration.between(last.isBefore(from) ? from : last, now);
    // One that is older than this operator's term may have spoken to its predecessor.
    boolean maybeStarting = heard.isEmpty() && !created.isBefore(listening);
    Duration most = maybeStarting ? silence.multipliedBy(TIMES_FOR_A_START) : silence;
    return silent.compareTo(most) > 0 ? Optional.of(silent) : Optional.empty();
  }
}
