package dev.kastor.protocol;

/**
 * The newest durable checkpoint of a job.
 *
 * @param step optimizer step it holds
 * @param bytes its size
 * @param savedAtEpochMillis when it became durable, Unix time in ms
 */
public record CheckpointInfo(long step, long bytes, long savedAtEpochMillis) {
  private static final long END_OF_YEAR_9999 = 253_402_300_799_999L;

  public CheckpointInfo {
    Check.between("checkpoint.step", step, 0, Check.MOST_COUNTED);
    Check.atLeast("checkpoint.bytes", bytes, 0);
    Check.between("checkpoint.savedAtEpochMillis", savedAtEpochMillis, 0, END_OF_YEAR_9999);
  }
}
