/**
 * Replays from event to event: a job arrives, ends or reports, a node fails or returns, and the
 * policy decides at once.
 *
 * <p>Entry type: {@link dev.kastor.simulator.event.EventSimulation}. Depends on the scheduler's
 * types, the truth about applications in {@link dev.kastor.traces}, and {@code replay}.
 */
@NullMarked
package dev.kastor.simulator.event;

import org.jspecify.annotations.NullMarked;
