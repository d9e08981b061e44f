package dev.kastor.scheduler.model;

/** How much a policy wants to be told of what reports teach. */
public enum Learning {
  /** One fit for each job from its own first reports, as the published simulators do. */
  FAITHFUL,

  /** All: remembered families, and layouts that were observed beside the fit. */
  FULL
}
