package dev.kastor.scheduler.estimate;

import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.goodput.LayoutFactors;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.goodput.ThroughputParams;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Step times of a family on one GPU type; immutable, and shared by its jobs together with the fit
 * to them, which is made when first asked for.
 */
final class RememberedProfiles {
  private static final int SINGLE = 0;
  private static final int ONE_NODE = 1;
  private static final int SEVERAL_NODES = 2;
  private static final int REACH = 2;

  private final SequencedMap<ProfileKey, StepProfile> profiles = new LinkedHashMap<>();
  private final int[] mostReplicas = new int[3];
  private final @Nullable ThroughputParams before;
  private int leastAtomic = Integer.MAX_VALUE;
  private int mostAtomic;
  private @Nullable ThroughputFit fit;
  private LayoutFactors factors = LayoutFactors.NONE;

  /**
   * Profiles of distinct keys, at least one.
   *
   * @param before what the family's last fit found, to begin the next from
   */
  RememberedProfiles(List<StepProfile> merged, @Nullable ThroughputParams before) {
    this.before = before;
    for (StepProfile profile : merged) {
      profiles.putLast(ProfileKey.of(profile), profile);
      int kind = kind(profile);
      mostReplicas[kind] = Math.max(mostReplicas[kind], profile.replicas());
      leastAtomic = Math.min(leastAtomic, profile.atomicBatchSize());
      mostAtomic = Math.max(mostAtomic, profile.atomicBatchSize());
    }
  }

  private static int kind(StepProfile profile) {
    return profile.nodes() > 1 ? SEVERAL_NODES : profile.replicas() > 1 ? ONE_NODE : SINGLE;
  }

  Collection<StepProfile> profiles() {
    return Collections.unmodifiableCollection(profiles.values());
  }

  synchronized ThroughputFit fit() {
    if (fit == null) {
      List<StepProfile> all = List.copyOf(profiles.values());
      fit = before == null ? ThroughputFitter.fit(all) : ThroughputFitter.refit(all, before);
      factors = LayoutFactors.of(all, fit.params());
    }
    return fit;
  }

  /** What the fit leaves unexplained. */
  synchronized LayoutFactors factors() {
    fit();
    return factors;
  }

  /** The constants of the fit if it was made, else those it would begin from. */
  synchronized @Nullable ThroughputParams latestParams() {
    return fit == null ? before : fit.params();
  }

  /** Whether a job's own merged profile says the same. */
  boolean says(StepProfile own) {
    StepProfile same = profiles.get(ProfileKey.of(own));
    return same != null
        && same.stepSeconds() == own.stepSeconds()
        && same.syncSeconds() == own.syncSeconds();
  }

  /**
   * Logarithm of a measured time over what is remembered: of the same key, else of a fit within its
   * reach (twice the replicas and half to twice the atomic batches it was made from), where needed
   * of the computation alone. NaN beyond.
   */
  double logRatio(StepProfile measured) {
    StepProfile same = profiles.get(ProfileKey.of(measured));
    if (same != null) {
      return Math.log(measured.stepSeconds() / same.stepSeconds());
    }
    int atomic = measured.atomicBatchSize();
    if (atomic * REACH < leastAtomic || atomic > mostAtomic * REACH) {
      return Double.NaN;
    }
    ThroughputParams params = fit().params();
    if (measured.replicas() > REACH * mostReplicas[kind(measured)]) {
      return Math.log(ThroughputObjective.computeSeconds(measured) / params.computeSeconds(atomic));
    }
    PlacementShape shape = new PlacementShape(measured.nodes(), measured.replicas(), "");
    return Math.log(measured.stepSeconds() / params.updateSeconds(shape, atomic));
  }
}
