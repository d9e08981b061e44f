package dev.kastor.scheduler.plan;

import dev.kastor.scheduler.model.Snapshot;

/**
 * Scheduling policy: decides which job runs where.
 *
 * <p>Deterministic in the snapshots it has seen and its own seed. It may keep a warm start between
 * calls but never the truth: dropping it may cost quality, not correctness. What hosts need to know
 * of it is said by the plug-in that creates it. Used by one thread at a time.
 */
@FunctionalInterface
public interface Policy {
  /** An allocation for every job of the snapshot; checked by the loop before it is applied. */
  Plan plan(Snapshot snapshot);
}
