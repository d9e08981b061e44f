/** Contracts and behaviour of the policies. */
@NullMarked
package dev.kastor.scheduler.policy;

import org.jspecify.annotations.NullMarked;
