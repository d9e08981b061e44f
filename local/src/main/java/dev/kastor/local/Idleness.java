package dev.kastor.local;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Time for which a process showed no sign of work, as far as it was looked at. A long time between
 * two looks does not count: whoever looks did not run then either, as on a machine that slept.
 */
final class Idleness {
  /** Longest time between two looks that counts. */
  static final Duration LONGEST_GAP = Duration.ofSeconds(30);

  private final long begunNanos;
  private long lookedNanos;
  private @Nullable Activity last;
  private Duration idle = Duration.ZERO;

  Idleness(long nowNanos) {
    begunNanos = nowNanos;
    lookedNanos = nowNanos;
  }

  /**
   * Looks at a process.
   *
   * @return the time since the last look, zero where it does not count
   */
  Duration look(Activity now, long nowNanos) {
    Duration gap = Duration.ofNanos(nowNanos - lookedNanos);
    Duration counted = gap.compareTo(LONGEST_GAP) > 0 ? Duration.ZERO : gap;
    lookedNanos = nowNanos;
    if (last == null || now.differs(last)) {
      last = now;
      idle = Duration.ZERO;
    } else {
      idle = idle.plus(counted);
    }
    return counted;
  }

  /** How long there was no sign of work. */
  Duration idle() {
    return idle;
  }

  /** Whether there was none for so long. */
  boolean lasts(Duration limit) {
    return idle.compareTo(limit) >= 0;
  }

  /** Time since the process was first looked at. */
  Duration age() {
    return Duration.ofNanos(lookedNanos - begunNanos);
  }
}
