/**
 * Who trains together: turns polls of replicas, pods and allocations into generations.
 *
 * <p>Entry type: {@link dev.kastor.operator.membership.MembershipService}. The rules are pure:
 * {@link dev.kastor.operator.membership.GenerationRules} says when the next generation comes and
 * what is in it, {@link dev.kastor.operator.membership.PollAnswer} what a replica is told.
 */
@NullMarked
package dev.kastor.operator.membership;

import org.jspecify.annotations.NullMarked;
