/**
 * What replicas report: checked at the border, kept in memory, summed up in the job's status.
 *
 * <p>Entry type: {@link dev.kastor.operator.telemetry.TelemetryStore}. A restarted operator starts
 * from the summary; everything else is measured again within seconds.
 */
@NullMarked
package dev.kastor.operator.telemetry;

import org.jspecify.annotations.NullMarked;
