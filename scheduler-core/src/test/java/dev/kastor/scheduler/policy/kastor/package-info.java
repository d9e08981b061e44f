/** Tests of Kastor's own policy. */
@NullMarked
package dev.kastor.scheduler.policy.kastor;

import org.jspecify.annotations.NullMarked;
