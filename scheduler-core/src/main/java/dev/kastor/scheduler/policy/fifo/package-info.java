/**
 * First in, first out with fixed sizes.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.fifo.FifoPolicy}.
 */
@NullMarked
package dev.kastor.scheduler.policy.fifo;

import org.jspecify.annotations.NullMarked;
