/**
 * Solvers of the integer and linear programs that policies pose.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.solve.MultipleChoice}. Depends on no scheduler
 * type.
 */
@NullMarked
package dev.kastor.scheduler.policy.solve;

import org.jspecify.annotations.NullMarked;
