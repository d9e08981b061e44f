package dev.kastor.scheduler.loop;

import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanCheck;
import dev.kastor.scheduler.plan.PlanDiff;
import dev.kastor.scheduler.plan.PlanViolation;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.plan.UnknownSpeeds;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one loop of Kastor: observe, plan, check, apply; and its fast path for new jobs.
 *
 * <p>It has no clock: the host decides when to call {@link #tick} and measures how long it took. A
 * plan that breaks a rule is refused as a whole and everything stays as it is. {@link #tick} is
 * used by one thread at a time, {@link #fastPath} by any.
 */
public final class SchedulingLoop {
  private static final Logger LOG = LoggerFactory.getLogger(SchedulingLoop.class);

  private final Cluster cluster;
  private final Policy policy;
  private final @Nullable FastPath fastPath;

  /** A loop without a fast path, as the published simulators have it. */
  public SchedulingLoop(Cluster cluster, Policy policy) {
    this.cluster = cluster;
    this.policy = policy;
    fastPath = null;
  }

  /**
   * A loop with a fast path.
   *
   * @param policy decides in rounds over all jobs
   * @param forNewJobs decides on new jobs between two rounds; another object of the same policy, as
   *     a policy may remember snapshots
   */
  public SchedulingLoop(Cluster cluster, Policy policy, Policy forNewJobs) {
    this.cluster = cluster;
    this.policy = policy;
    fastPath = new FastPath(forNewJobs);
  }

  /**
   * Decisions on new jobs between two rounds.
   *
   * @throws IllegalStateException if the loop was made without
   */
  public FastPath fastPath() {
    if (fastPath == null) {
      throw new IllegalStateException("this loop has no fast path");
    }
    return fastPath;
  }

  /**
   * Decides once. Exceptions of the cluster or the policy pass through; nothing is applied then.
   */
  public Round tick() {
    Snapshot snapshot = UnknownSpeeds.keepSizes(cluster.observe());
    Plan plan = policy.plan(snapshot);
    List<PlanViolation> violations = PlanCheck.violations(snapshot, plan);
    if (!violations.isEmpty()) {
      for (PlanViolation violation : violations) {
        LOG.error("plan of the policy refused: {}", violation.message());
      }
      return finished(new Round(snapshot, plan, violations, List.of(), 0));
    }
    List<Change> wanted = PlanDiff.changes(snapshot, plan);
    List<Change> changes = fastPath == null ? wanted : fastPath.dropConflicting(snapshot, wanted);
    if (!changes.isEmpty()) {
      cluster.apply(changes);
    }
    int deferred = wanted.size() - changes.size();
    return finished(new Round(snapshot, plan, violations, changes, deferred));
  }

  private Round finished(Round round) {
    if (fastPath != null) {
      fastPath.roundFinished(round);
    }
    return round;
  }
}
