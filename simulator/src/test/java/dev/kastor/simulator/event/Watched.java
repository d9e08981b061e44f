package dev.kastor.simulator.event;

import dev.kastor.scheduler.Control;
import dev.kastor.scheduler.Plan;
import dev.kastor.scheduler.Policy;
import dev.kastor.scheduler.Snapshot;
import java.util.ArrayList;
import java.util.List;

/** A policy that remembers what it was shown. */
record Watched(Policy policy, List<Snapshot> seen) implements Policy {
  Watched(Policy policy) {
    this(policy, new ArrayList<>());
  }

  @Override
  public String name() {
    return policy.name();
  }

  @Override
  public Control control() {
    return policy.control();
  }

  @Override
  public boolean seesGpuTypes() {
    return policy.seesGpuTypes();
  }

  @Override
  public Plan plan(Snapshot snapshot) {
    seen.add(snapshot);
    return policy.plan(snapshot);
  }
}
