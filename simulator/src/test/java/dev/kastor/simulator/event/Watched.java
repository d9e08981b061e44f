package dev.kastor.simulator.event;

import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;

/** Policy that remembers the snapshots that it was shown. */
record Watched(Policy policy, List<Snapshot> seen) implements Policy {
  /** Watches the policy of rounds, which is created first; not that of the fast path. */
  static UnaryOperator<Policy> first(List<Snapshot> seen) {
    AtomicBoolean watches = new AtomicBoolean();
    return policy -> watches.getAndSet(true) ? policy : new Watched(policy, seen);
  }

  @Override
  public Plan plan(Snapshot snapshot) {
    seen.add(snapshot);
    return policy.plan(snapshot);
  }
}
