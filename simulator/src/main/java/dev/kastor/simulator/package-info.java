/**
 * Replays of workloads in virtual time through the production scheduling loop.
 *
 * <p>Entry type: {@link dev.kastor.simulator.Simulate}, which checks many runs together and makes
 * them; {@code tick} holds the published simulators' rules of time, {@code event} Kastor's own,
 * {@code report} the files. Depends on traces and the scheduler.
 */
@NullMarked
package dev.kastor.simulator;

import org.jspecify.annotations.NullMarked;
