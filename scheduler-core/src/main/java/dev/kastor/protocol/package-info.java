/**
 * The messages between agents and operator, as plain records that any JSON library can bind.
 *
 * <p>{@link dev.kastor.protocol.TelemetryReport} travels up, {@link dev.kastor.protocol.Membership}
 * comes down. Simulated jobs use the same reports. The package depends on nothing but the JDK.
 */
@NullMarked
package dev.kastor.protocol;

import org.jspecify.annotations.NullMarked;
