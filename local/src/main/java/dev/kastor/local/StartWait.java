package dev.kastor.local;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Decision how long to wait for a process that starts: as long as it works, however slow the
 * machine is.
 */
final class StartWait {
  /** Time between two lines that say what is waited for. */
  static final Duration SAY = Duration.ofSeconds(30);

  /** A process that did nothing for so long is given up. */
  static final Duration NO_PROGRESS = Duration.ofMinutes(3);

  /** A process that ended so often is given up. */
  static final int ENDS = 3;

  private final Idleness idleness;
  private final Consumer<String> say;
  private Duration said = Duration.ZERO;

  /**
   * A wait that begins.
   *
   * @param say takes lines for whoever waits
   */
  StartWait(long nowNanos, Consumer<String> say) {
    idleness = new Idleness(nowNanos);
    this.say = say;
  }

  /**
   * Looks at the process, and may say something.
   *
   * @param ends of the process until now
   * @return why to wait no longer
   */
  Optional<String> look(
      SupervisedProcess.Ends ends, Activity activity, StartLog log, long nowNanos) {
    idleness.look(activity, nowNanos);
    if (ends.count() >= ENDS) {
      return Optional.of(
          "the operator ended %d times while it started, the last time with exit code %d"
              .formatted(ends.count(), ends.lastCode()));
    }
    if (idleness.lasts(NO_PROGRESS)) {
      return Optional.of(
          "the operator lives but did nothing for %d s: it used no CPU time and logged nothing"
              .formatted(idleness.idle().toSeconds()));
    }
    Duration age = idleness.age();
    if (age.minus(said).compareTo(SAY) >= 0) {
      said = age;
      say.accept(
          "still starting after %d s: the operator has logged %d lines; log: %s"
              .formatted(age.toSeconds(), log.lines(), log.file()));
    }
    return Optional.empty();
  }
}
