/**
 * Jobs whose replicas answer and do not get on: {@link dev.kastor.operator.hang.HangWatch} looks at
 * all, {@link dev.kastor.operator.hang.HangRule} tells a hanging job from a slow one, {@link
 * dev.kastor.operator.hang.SlowRule} one replica that holds up the others.
 */
@NullMarked
package dev.kastor.operator.hang;

import org.jspecify.annotations.NullMarked;
