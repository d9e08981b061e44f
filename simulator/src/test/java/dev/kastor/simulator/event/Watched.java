package dev.kastor.simulator.event;

import dev.kastor.scheduler.Plan;
import dev.kastor.scheduler.Policy;
import dev.kastor.scheduler.Snapshot;
import java.util.List;

/** A policy that remembers what it was shown. */
record Watched(Policy policy, List<Snapshot> seen) implements Policy {
  @Override
  public Plan plan(Snapshot snapshot) {
    seen.add(snapshot);
    return policy.plan(snapshot);
  }
}
