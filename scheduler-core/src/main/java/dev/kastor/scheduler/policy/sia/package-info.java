/**
 * Sia: an integer program for goodput over GPU types.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.sia.SiaPolicy}.
 */
@NullMarked
package dev.kastor.scheduler.policy.sia;

import org.jspecify.annotations.NullMarked;
