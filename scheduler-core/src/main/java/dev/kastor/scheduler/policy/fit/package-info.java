/**
 * Nodes that take some jobs and refuse others: any policy is made to keep replicas off nodes that
 * refuse them. Entry type: {@link dev.kastor.scheduler.policy.fit.FitPolicy}.
 */
@NullMarked
package dev.kastor.scheduler.policy.fit;

import org.jspecify.annotations.NullMarked;
