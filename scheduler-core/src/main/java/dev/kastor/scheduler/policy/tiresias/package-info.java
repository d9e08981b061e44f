/**
 * Tiresias: least attained service first.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.tiresias.TiresiasPolicy}.
 */
@NullMarked
package dev.kastor.scheduler.policy.tiresias;

import org.jspecify.annotations.NullMarked;
