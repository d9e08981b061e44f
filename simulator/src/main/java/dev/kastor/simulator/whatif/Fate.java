package dev.kastor.simulator.whatif;

import dev.kastor.scheduler.model.JobId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Future of one job in a replay.
 *
 * @param runs whether it holds GPUs now
 * @param start when it gets GPUs, of a job that holds none now; empty if never, or if it has them
 * @param replicas how many it gets then, or has now
 * @param startPause from then until it trains
 * @param end when its work is done; empty if it is not within the time that was replayed
 */
public record Fate(
    JobId job,
    boolean runs,
    Optional<Instant> start,
    int replicas,
    Duration startPause,
    Optional<Instant> end) {
  /** When it begins to train, of a job that does not hold GPUs now. */
  public Optional<Instant> trains() {
    return start.map(at -> at.plus(startPause));
  }
}
