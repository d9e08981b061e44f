package dev.kastor.operator.status;

/**
 * Obstacle that a job has to wait for before it can wait for slots.
 *
 * @param reason of the condition {@code Queued}
 * @param message what has to happen
 */
public record Hold(JobReason reason, String message) {}
