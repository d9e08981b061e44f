/**
 * Pollux: a genetic search for goodput.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.pollux.PolluxPolicy}.
 */
@NullMarked
package dev.kastor.scheduler.policy.pollux;

import org.jspecify.annotations.NullMarked;
