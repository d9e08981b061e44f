/**
 * Answers to "what if" from a live cluster: its future as things are and with a change, replayed by
 * the event-driven simulation under the policy that decides there.
 *
 * <p>Entry type: {@link dev.kastor.simulator.whatif.WhatIf}. Depends on {@code live}.
 */
@NullMarked
package dev.kastor.simulator.whatif;

import org.jspecify.annotations.NullMarked;
