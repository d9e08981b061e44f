/**
 * What training tells the outside: reports to the operator while it runs and the outcome when it
 * ends.
 *
 * <p>Entry types {@link dev.kastor.agent.telemetry.TelemetryClient} and {@link
 * dev.kastor.agent.telemetry.TerminationLog}.
 */
@NullMarked
package dev.kastor.agent.telemetry;

import org.jspecify.annotations.NullMarked;
