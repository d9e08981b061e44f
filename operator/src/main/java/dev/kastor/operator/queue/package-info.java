/**
 * Queues: which job counts against which queue, their quotas and their statuses. Entry type: {@link
 * dev.kastor.operator.queue.QueueDirectory}.
 */
@NullMarked
package dev.kastor.operator.queue;

import org.jspecify.annotations.NullMarked;
