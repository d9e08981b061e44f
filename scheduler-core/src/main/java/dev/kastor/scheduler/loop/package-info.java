/**
 * Loop of observing, planning, checking and applying, and the fast path for new jobs beside it.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.loop.SchedulingLoop}. A host (operator or simulator)
 * implements {@link dev.kastor.scheduler.loop.Cluster}. Depends on the model and on plans; knows no
 * policy.
 */
@NullMarked
package dev.kastor.scheduler.loop;

import org.jspecify.annotations.NullMarked;
