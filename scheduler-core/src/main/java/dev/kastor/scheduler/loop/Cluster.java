package dev.kastor.scheduler.loop;

import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Change;
import java.util.List;

/** The cluster as the loop sees it: real in the operator, virtual in the simulator. */
public interface Cluster {
  /** The state on which the next round decides. */
  Snapshot observe();

  /** Carries out changes: shrinks and stops come before grows and starts. */
  void apply(List<Change> changes);
}
