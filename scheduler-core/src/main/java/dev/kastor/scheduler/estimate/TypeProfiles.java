package dev.kastor.scheduler.estimate;

import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.goodput.LayoutFactors;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * What reports say of step times on one GPU type, beside what is remembered of them; owned by an
 * estimator or a family.
 */
final class TypeProfiles {
  private static final double DRIFT = 0.05;

  /** Own reports after which news of the family alone is worth a fit. */
  private static final int PATIENCE = 10;

  private final GoodputEstimator.Merging merging;
  private final SequencedMap<ProfileKey, ProfileWindow> windows = new LinkedHashMap<>();
  private @Nullable RememberedProfiles remembered;
  private @Nullable ThroughputFit fit;
  private LayoutFactors factors = LayoutFactors.NONE;
  private boolean stale;
  private int reportsSinceFit;

  TypeProfiles(GoodputEstimator.Merging merging) {
    this.merging = merging;
  }

  /** Takes in a profile; returns the one that now stands for all of its key. */
  StepProfile observe(StepProfile profile) {
    reportsSinceFit++;
    ProfileKey key = ProfileKey.of(profile);
    @Nullable ProfileWindow known = windows.get(key);
    if (merging == GoodputEstimator.Merging.FIRST && known != null) {
      return known.merged();
    }
    ProfileWindow window = known == null ? new ProfileWindow() : known;
    if (known == null || !windows.sequencedKeySet().getLast().equals(key)) {
      windows.remove(key);
      windows.putLast(key, window);
    }
    window.add(profile);
    stale |= window.drifted(DRIFT);
    if (merging == GoodputEstimator.Merging.NEWEST && windows.size() > GoodputEstimator.MAX_KEYS) {
      windows.pollFirstEntry();
      stale = true;
    }
    return window.merged();
  }

  /**
   * From now on these stand for keys of which there is no report.
   *
   * <p>A family of thousands of jobs has news all the time. They are worth a fit of each job's own
   * only now and then; where they agree with its own reports the family's fit is taken at once.
   */
  void remember(@Nullable RememberedProfiles newest) {
    RememberedProfiles before = remembered;
    if (newest != before) {
      stale |=
          newest == null || before == null || reportsSinceFit >= PATIENCE || saysTheSame(newest);
      remembered = newest;
    }
  }

  private boolean saysTheSame(RememberedProfiles family) {
    return windows.values().stream().map(ProfileWindow::merged).allMatch(family::says);
  }

  /** Whether nothing is known, neither reported nor remembered. */
  boolean isEmpty() {
    return windows.isEmpty() && remembered == null;
  }

  ThroughputFit fit() {
    ThroughputFit current = fit;
    if (stale || current == null) {
      current = fitted(current);
      fit = current;
      fresh();
    }
    return current;
  }

  private ThroughputFit fitted(@Nullable ThroughputFit before) {
    List<StepProfile> evidence = new ArrayList<>(merged());
    if (remembered != null) {
      if (saysTheSame(remembered)) {
        factors = remembered.factors();
        return remembered.fit();
      }
      for (StepProfile profile : remembered.profiles()) {
        if (!windows.containsKey(ProfileKey.of(profile))) {
          evidence.add(profile);
        }
      }
    }
    ThroughputFit found =
        before == null
            ? ThroughputFitter.fit(evidence)
            : ThroughputFitter.refit(evidence, before.params());
    factors = LayoutFactors.of(evidence, found.params());
    return found;
  }

  /** What the last fit leaves unexplained. */
  LayoutFactors factors() {
    return factors;
  }

  private void fresh() {
    stale = false;
    reportsSinceFit = 0;
    windows.values().forEach(ProfileWindow::fitted);
  }

  /** What is to be remembered: {@code last} while nothing has changed that a fit would show. */
  RememberedProfiles toRemember(@Nullable RememberedProfiles last) {
    if (stale || last == null) {
      RememberedProfiles now =
          new RememberedProfiles(merged(), last == null ? null : last.latestParams());
      fresh();
      return now;
    }
    return Objects.requireNonNull(last);
  }

  /** Own reports, one profile a key. */
  List<StepProfile> merged() {
    return windows.values().stream().map(ProfileWindow::merged).toList();
  }
}
