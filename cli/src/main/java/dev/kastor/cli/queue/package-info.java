/**
 * Queues with their quotas and what they use. Entry type: {@link dev.kastor.cli.queue.Queues}.
 *
 * <p>Depends on {@code cli.connect} and {@code cli.view}.
 */
@NullMarked
package dev.kastor.cli.queue;

import org.jspecify.annotations.NullMarked;
