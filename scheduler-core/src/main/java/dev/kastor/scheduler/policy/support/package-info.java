/**
 * Kit for authors of policies: placing jobs on nodes, sizes that owners asked for, time that jobs
 * still take.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.support.GangFill}. Depends on the scheduler's
 * types and the goodput model.
 */
@NullMarked
package dev.kastor.scheduler.policy.support;

import org.jspecify.annotations.NullMarked;
