/**
 * Many replays that survive the death of their process.
 *
 * <p>Entry type: {@link dev.kastor.simulator.sweep.Sweep}.
 */
@NullMarked
package dev.kastor.simulator.sweep;

import org.jspecify.annotations.NullMarked;
