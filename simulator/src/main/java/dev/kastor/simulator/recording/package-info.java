/**
 * Recordings of live clusters as workloads, and how far a replay is from what really happened.
 *
 * <p>Entry type: {@link dev.kastor.simulator.recording.Recording}. Depends on {@code live} and
 * {@code replay}.
 */
@NullMarked
package dev.kastor.simulator.recording;

import org.jspecify.annotations.NullMarked;
