package dev.kastor.scheduler;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one loop of Kastor: observe, plan, check, apply.
 *
 * <p>It has no clock: the host decides when to call {@link #tick} and measures how long it took. A
 * plan that breaks a rule is refused as a whole and everything stays as it is. Used by one thread
 * at a time.
 */
public final class SchedulingLoop {
  private static final Logger LOG = LoggerFactory.getLogger(SchedulingLoop.class);

  private final Cluster cluster;
  private final Policy policy;

  public SchedulingLoop(Cluster cluster, Policy policy) {
    this.cluster = cluster;
    this.policy = policy;
  }

  /**
   * Decides once. Exceptions of the cluster or the policy pass through; nothing is applied then.
   */
  public Round tick() {
    Snapshot snapshot = cluster.observe();
    Plan plan = policy.plan(snapshot);
    List<PlanViolation> violations = PlanCheck.violations(snapshot, plan);
    if (!violations.isEmpty()) {
      for (PlanViolation violation : violations) {
        LOG.error("plan of the policy refused: {}", violation.message());
      }
      return new Round(snapshot, plan, violations, List.of());
    }
    List<Change> changes = PlanDiff.changes(snapshot, plan);
    if (!changes.isEmpty()) {
      cluster.apply(changes);
    }
    return new Round(snapshot, plan, violations, changes);
  }
}
