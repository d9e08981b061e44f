package dev.kastor.scheduler.loop;

import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanViolation;
import java.util.List;

/**
 * One pass of the loop.
 *
 * @param snapshot what was decided on
 * @param plan what the policy wanted
 * @param violations rules the plan broke; the allocations then stay as they are
 * @param changes what was handed to the cluster
 * @param deferred changes left to the next round, as new jobs were given their slots meanwhile
 */
public record Round(
    Snapshot snapshot,
    Plan plan,
    List<PlanViolation> violations,
    List<Change> changes,
    int deferred) {
  public Round {
    violations = List.copyOf(violations);
    changes = List.copyOf(changes);
  }
}
