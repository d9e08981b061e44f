/**
 * Shortest remaining time first.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.srtf.SrtfPolicy}.
 */
@NullMarked
package dev.kastor.scheduler.policy.srtf;

import org.jspecify.annotations.NullMarked;
