/**
 * Which of several operators decides, and that no other writes: {@link
 * dev.kastor.operator.leader.Leadership} takes part in the election over a Lease, {@link
 * dev.kastor.operator.signal.Mandate} says to all others what came out of it.
 */
@NullMarked
package dev.kastor.operator.leader;

import org.jspecify.annotations.NullMarked;
