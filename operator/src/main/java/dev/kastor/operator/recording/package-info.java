/**
 * Recording of the cluster in memory, for replays elsewhere: arrivals, what jobs were given and
 * reported, how they ended, and which nodes were there.
 *
 * <p>Entry type: {@link dev.kastor.operator.recording.JobRecorder}. Depends on {@code signal} and
 * {@code history}.
 */
@NullMarked
package dev.kastor.operator.recording;

import org.jspecify.annotations.NullMarked;
