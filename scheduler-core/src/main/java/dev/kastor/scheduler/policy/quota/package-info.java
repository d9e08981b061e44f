/**
 * Quotas of queues for policies that do not keep them by themselves.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.quota.QuotaPolicy}. Depends on the scheduler's
 * types and the kit for policies.
 */
@NullMarked
package dev.kastor.scheduler.policy.quota;

import org.jspecify.annotations.NullMarked;
