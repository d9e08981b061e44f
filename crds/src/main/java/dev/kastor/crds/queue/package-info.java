/**
 * Queues: weights, quotas and cohorts of those who share a cluster.
 *
 * <p>Entry type: {@link dev.kastor.crds.queue.Queue}. Depends on no other kind.
 */
@NullMarked
package dev.kastor.crds.queue;

import org.jspecify.annotations.NullMarked;
