/**
 * Live clusters as a document: all that a policy was told, so that it can be replayed elsewhere.
 *
 * <p>Entry types: {@link dev.kastor.scheduler.live.LiveCluster} for a cluster at one instant,
 * {@link dev.kastor.scheduler.live.RecordingDocument} for one over time. Depends on the model and
 * on goodput models; the records of {@link dev.kastor.scheduler.live.LiveDocument} need no more
 * than what any library for JSON does with records.
 */
@NullMarked
package dev.kastor.scheduler.live;

import org.jspecify.annotations.NullMarked;
