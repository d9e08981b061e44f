/**
 * The scheduler's vocabulary and its one loop.
 *
 * <p>Entry type: {@code SchedulingLoop}. A host (operator or simulator) implements {@link
 * dev.kastor.scheduler.Cluster}; a {@link dev.kastor.scheduler.Policy} turns a {@link
 * dev.kastor.scheduler.Snapshot} into a {@link dev.kastor.scheduler.Plan}. Nothing here knows
 * Kubernetes, files or clocks.
 */
@NullMarked
package dev.kastor.scheduler;

import org.jspecify.annotations.NullMarked;
