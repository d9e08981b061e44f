/**
 * How a replica speaks to the operator: JSON over HTTPS with a bearer token that proves the pod.
 *
 * <p>Entry type {@link dev.kastor.agent.operator.OperatorConnection}; used by {@code membership}
 * and {@code telemetry}. The same JSON form serves the termination message.
 */
@NullMarked
package dev.kastor.agent.operator;

import org.jspecify.annotations.NullMarked;
