package dev.kastor.scheduler.model;

import java.time.Duration;
import java.util.Optional;

/**
 * Pauses that a host assumes for a job until the job, or its family, has measured one.
 *
 * @param rescale pause of a live change
 * @param restart pause of a change after which nothing runs where it ran, or on another GPU type
 * @param start start of replicas that a running job adds, while the others train on; empty where it
 *     takes as long as a restart
 */
public record AssumedPauses(Duration rescale, Duration restart, Optional<Duration> start) {
  /** Pauses of a host on which a start takes as long as a restart. */
  public AssumedPauses(Duration rescale, Duration restart) {
    this(rescale, restart, Optional.empty());
  }
}
