/**
 * Optimus: one GPU at a time to where it shortens most.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.optimus.OptimusPolicy}.
 */
@NullMarked
package dev.kastor.scheduler.policy.optimus;

import org.jspecify.annotations.NullMarked;
