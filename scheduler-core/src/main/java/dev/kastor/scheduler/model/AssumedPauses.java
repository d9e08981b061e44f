package dev.kastor.scheduler.model;

import java.time.Duration;

/**
 * Pauses that a host assumes for a job until the job, or its family, has measured one.
 *
 * @param rescale pause of a live change
 * @param restart pause of a change after which nothing runs where it ran, or on another GPU type
 */
public record AssumedPauses(Duration rescale, Duration restart) {}
