package dev.kastor.scheduler.model;

/** How much a policy decides for the jobs that it schedules. */
public enum Control {
  /** When and where a job runs; its size and its batch are what its owner asked for. */
  PLACEMENT,

  /** Its size as well; the global batch is what its owner asked for. */
  SIZE,

  /** Its size and, through the goodput model, its batch. */
  SIZE_AND_BATCH
}
