/**
 * Runs: replays as a user asks for them, with their files, policy, seed and conditions.
 *
 * <p>Entry type: {@link dev.kastor.simulator.run.Simulate}, which checks many runs together, picks
 * the kind of replay for each and makes them. Depends on both kinds of replay, traces and the
 * registry of policies.
 */
@NullMarked
package dev.kastor.simulator.run;

import org.jspecify.annotations.NullMarked;
