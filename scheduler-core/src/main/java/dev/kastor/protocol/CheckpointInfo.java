package dev.kastor.protocol;

/**
 * The newest durable checkpoint of a job.
 *
 * @param step optimizer step it holds
 * @param bytes its size
 * @param savedAtEpochMillis when it became durable, Unix time in ms
 */
public record CheckpointInfo(long step, long bytes, long savedAtEpochMillis) {
  public CheckpointInfo {
    Check.atLeast("checkpoint.step", step, 0);
    Check.atLeast("checkpoint.bytes", bytes, 0);
    Check.atLeast("checkpoint.savedAtEpochMillis", savedAtEpochMillis, 0);
  }
}
