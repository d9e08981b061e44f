/**
 * Cluster, progress and result of a replay, whosever rules of time it follows.
 *
 * <p>Entry types: {@link dev.kastor.simulator.replay.ClusterShape} and {@link
 * dev.kastor.simulator.replay.Replay}. Depends on the scheduler's types.
 */
@NullMarked
package dev.kastor.simulator.replay;

import org.jspecify.annotations.NullMarked;
