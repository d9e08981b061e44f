package dev.kastor.operator.status;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What a job's status says about its life so far.
 *
 * @param started when it first trained
 * @param suspended how long it was suspended since then, the present suspension included
 * @param waiting since when it waits for slots; empty if it does not
 * @param starting since when it has slots and does not train; empty if that is not so
 * @param failedStarts starts in a row that took too long
 * @param refused how long in all the API server refused its pods since the last start
 */
public record LifeTimes(
    Optional<Instant> started,
    Duration suspended,
    Optional<Instant> waiting,
    Optional<Instant> starting,
    int failedStarts,
    Duration refused) {
  /** The same where nothing could start before a moment: a machine that sleeps starts nothing. */
  public LifeTimes since(Instant awake) {
    return new LifeTimes(
        started,
        suspended,
        waiting,
        starting.map(at -> at.isBefore(awake) ? awake : at),
        failedStarts,
        refused);
  }

  /** The same of a job whose pods were refused for so long. */
  public LifeTimes refused(Duration time) {
    return new LifeTimes(started, suspended, waiting, starting, failedStarts, time);
  }
}
