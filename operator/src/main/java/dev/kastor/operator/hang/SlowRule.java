package dev.kastor.operator.hang;

import dev.kastor.protocol.Slowest;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether one replica holds up the others: the same one computes longer than they, by the
 * same factor, report after report. Used by one thread.
 */
final class SlowRule {
  private final double slowdown;
  private final Duration lasting;
  private @Nullable String suspect;
  private Instant since = Instant.MIN;
  private boolean told;

  SlowRule(double slowdown, Duration lasting) {
    this.slowdown = slowdown;
    this.lasting = lasting;
  }

  /** The slow one, once, when it has been slow for long enough. */
  Optional<Slowest> look(Optional<Slowest> newest, Instant now) {
    Slowest slow = newest.filter(each -> each.slowdown() >= slowdown).orElse(null);
    if (slow == null || !slow.pod().equals(suspect)) {
      suspect = slow == null ? null : slow.pod();
      since = now;
      told = false;
      return Optional.empty();
    }
    if (told || now.isBefore(since.plus(lasting))) {
      return Optional.empty();
    }
    told = true;
    return Optional.of(slow);
  }
}
