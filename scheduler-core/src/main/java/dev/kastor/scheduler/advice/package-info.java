/**
 * How many nodes a cluster should have: {@link dev.kastor.scheduler.advice.NodeAdvisor} watches
 * snapshots and says so; it changes nothing. Depends on the core types and the goodput model.
 */
@NullMarked
package dev.kastor.scheduler.advice;

import org.jspecify.annotations.NullMarked;
