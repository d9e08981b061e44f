/** Tests of Kastor's own policy. */
@NullMarked
package dev.kastor.scheduler.policy.quota;

import org.jspecify.annotations.NullMarked;
