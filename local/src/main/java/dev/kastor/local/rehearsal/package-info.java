/**
 * Caches of the agent's classes: {@link dev.kastor.local.rehearsal.AgentRehearsal} makes one while
 * two agents train with a played operator.
 *
 * <p>It may use all of {@code local}, and nothing of {@code local} uses it.
 */
@NullMarked
package dev.kastor.local.rehearsal;

import org.jspecify.annotations.NullMarked;
