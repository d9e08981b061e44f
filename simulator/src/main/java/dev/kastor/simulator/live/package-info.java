/**
 * Jobs of a live cluster as replays take them: what their operator fitted is the truth, and what it
 * does not know is assumed.
 *
 * <p>Entry type: {@link dev.kastor.simulator.live.Assumed}. Depends on {@code event}.
 */
@NullMarked
package dev.kastor.simulator.live;

import org.jspecify.annotations.NullMarked;
