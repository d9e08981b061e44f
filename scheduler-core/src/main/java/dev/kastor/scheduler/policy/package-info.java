/**
 * Scheduling policies: pure functions from a snapshot to a plan.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.Policies}, the registry. A policy depends on
 * the scheduler's types and the goodput model only.
 */
@NullMarked
package dev.kastor.scheduler.policy;

import org.jspecify.annotations.NullMarked;
