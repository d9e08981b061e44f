package dev.kastor.operator.status;

/**
 * What a job waits for.
 *
 * @param reason of the condition {@code Queued}
 * @param message what has to happen
 */
public record Hold(JobReason reason, String message) {}
