/**
 * Shockwave: plans for several rounds at once.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.shockwave.ShockwavePolicy}.
 */
@NullMarked
package dev.kastor.scheduler.policy.shockwave;

import org.jspecify.annotations.NullMarked;
