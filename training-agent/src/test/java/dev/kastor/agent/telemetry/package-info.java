/** Tests against an operator over HTTPS. */
@NullMarked
package dev.kastor.agent.telemetry;

import org.jspecify.annotations.NullMarked;
