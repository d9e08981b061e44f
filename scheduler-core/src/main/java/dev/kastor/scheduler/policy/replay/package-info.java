/**
 * Replays of the future of a live cluster under a policy. Who replays is found among the jars:
 * {@link dev.kastor.scheduler.policy.replay.Replayer}, so that who asks does not depend on a
 * simulator.
 */
@NullMarked
package dev.kastor.scheduler.policy.replay;

import org.jspecify.annotations.NullMarked;
