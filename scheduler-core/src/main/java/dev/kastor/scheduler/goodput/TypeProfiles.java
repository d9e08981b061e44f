package dev.kastor.scheduler.goodput;

import dev.kastor.protocol.StepProfile;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** What a job's reports say of its step times on one GPU type; owned by its estimator. */
final class TypeProfiles {
  private static final double DRIFT = 0.05;

  private record Key(int nodes, int replicas, int atomicBatchSize) {
    static Key of(StepProfile profile) {
      return new Key(profile.nodes(), profile.replicas(), profile.atomicBatchSize());
    }
  }

  private final GoodputEstimator.Merging merging;
  private final SequencedMap<Key, ProfileWindow> windows = new LinkedHashMap<>();
  private @Nullable ThroughputFit fit;
  private boolean stale;

  TypeProfiles(GoodputEstimator.Merging merging) {
    this.merging = merging;
  }

  void observe(StepProfile profile) {
    Key key = Key.of(profile);
    if (merging == GoodputEstimator.Merging.FIRST && windows.containsKey(key)) {
      return;
    }
    @Nullable ProfileWindow window = windows.remove(key);
    if (window == null) {
      window = new ProfileWindow();
    }
    windows.putLast(key, window);
    window.add(profile);
    stale |= window.drifted(DRIFT);
    if (merging == GoodputEstimator.Merging.NEWEST && windows.size() > GoodputEstimator.MAX_KEYS) {
      windows.pollFirstEntry();
      stale = true;
    }
  }

  ThroughputFit fit() {
    ThroughputFit current = fit;
    if (stale || current == null) {
      current =
          current == null
              ? ThroughputFitter.fit(merged())
              : ThroughputFitter.refit(merged(), current.params());
      fit = current;
      stale = false;
      windows.values().forEach(ProfileWindow::fitted);
    }
    return current;
  }

  List<StepProfile> merged() {
    return windows.values().stream().map(ProfileWindow::merged).toList();
  }
}
