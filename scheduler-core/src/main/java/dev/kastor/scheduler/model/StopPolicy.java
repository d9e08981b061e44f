package dev.kastor.scheduler.model;

/** Whether a queue lets jobs in and goes on with those that run. */
public enum StopPolicy {
  /** It does both. */
  NONE,

  /** Those that run go on, no other starts. */
  HOLD,

  /** Nobody runs. */
  HOLD_AND_DRAIN
}
