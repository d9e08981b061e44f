/**
 * Passes that last as long as on an accelerator of a given pace, on a machine that has none.
 *
 * <p>Entry types {@link dev.kastor.agent.pace.Pace} and {@link dev.kastor.agent.pace.PacedModel}.
 */
@NullMarked
package dev.kastor.agent.pace;

import org.jspecify.annotations.NullMarked;
