/**
 * Live clusters as a document: all that a policy was told, so that it can be replayed elsewhere.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.live.LiveCluster}. Depends on the model and on goodput
 * models; the records of {@link dev.kastor.scheduler.live.LiveDocument} need no more than what any
 * library for JSON does with records.
 */
@NullMarked
package dev.kastor.scheduler.live;

import org.jspecify.annotations.NullMarked;
