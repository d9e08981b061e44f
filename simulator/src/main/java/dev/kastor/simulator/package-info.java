/**
 * Replays workloads in virtual time through the production loop, estimator and policies.
 *
 * <p>Entry type: {@link dev.kastor.simulator.Simulate}. Only jobs and time are simulated: step
 * times and noise come from {@link dev.kastor.traces.JobProfile}, and jobs report them as real
 * {@link dev.kastor.protocol.TelemetryReport}s.
 */
@NullMarked
package dev.kastor.simulator;

import org.jspecify.annotations.NullMarked;
