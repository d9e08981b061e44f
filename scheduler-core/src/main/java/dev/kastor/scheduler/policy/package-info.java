/**
 * Description of scheduling policies: pure functions from a snapshot to a plan.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.policy.PolicyPlugin}, which describes and creates a
 * policy. Each policy has a package of its own below, the registry of all is in {@code registry},
 * and what policies are built from is in {@code support}.
 */
@NullMarked
package dev.kastor.scheduler.policy;

import org.jspecify.annotations.NullMarked;
