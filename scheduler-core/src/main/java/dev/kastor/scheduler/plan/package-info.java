/**
 * Decisions of one round: the plan, the rules that it must keep, and what it changes.
 *
 * <p>Entry types: {@link dev.kastor.scheduler.plan.Policy}, which turns a snapshot into a {@link
 * dev.kastor.scheduler.plan.Plan}, and {@link dev.kastor.scheduler.plan.PlanCheck}. Depends on the
 * model.
 */
@NullMarked
package dev.kastor.scheduler.plan;

import org.jspecify.annotations.NullMarked;
