/**
 * Replays in rounds of fixed length, as the published simulators do: first every job runs for a
 * round, then the policy decides.
 *
 * <p>Entry type: {@link dev.kastor.simulator.tick.TickSimulation}.
 */
@NullMarked
package dev.kastor.simulator.tick;

import org.jspecify.annotations.NullMarked;
