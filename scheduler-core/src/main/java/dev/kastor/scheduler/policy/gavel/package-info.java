/**
 * Gavel: shares of time on GPU types, approached by rounds.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.gavel.GavelPolicy}.
 */
@NullMarked
package dev.kastor.scheduler.policy.gavel;

import org.jspecify.annotations.NullMarked;
