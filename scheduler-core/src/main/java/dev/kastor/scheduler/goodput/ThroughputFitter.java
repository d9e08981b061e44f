package dev.kastor.scheduler.goodput;

import static dev.kastor.scheduler.goodput.ThroughputObjective.ALPHA_COMPUTE;
import static dev.kastor.scheduler.goodput.ThroughputObjective.ALPHA_LOCAL;
import static dev.kastor.scheduler.goodput.ThroughputObjective.ALPHA_NETWORK;
import static dev.kastor.scheduler.goodput.ThroughputObjective.BETA_COMPUTE;
import static dev.kastor.scheduler.goodput.ThroughputObjective.BETA_LOCAL;
import static dev.kastor.scheduler.goodput.ThroughputObjective.BETA_NETWORK;
import static dev.kastor.scheduler.goodput.ThroughputObjective.GAMMA;
import static dev.kastor.scheduler.goodput.ThroughputObjective.LOWEST;
import static dev.kastor.scheduler.goodput.ThroughputObjective.SIZE;

import dev.kastor.protocol.StepProfile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Fits the seven constants of {@link ThroughputParams} to step profiles (Pollux, OSDI 2021, section
 * 4.1).
 *
 * <p>The published simulator minimises the {@link ThroughputObjective} within bounds by L-BFGS-B.
 * We remove the bounds by a change of variables (logarithms; a logistic for gamma) and the two
 * roots by majorisation, {@code sqrt(m) <= m / 2w + w / 2} with equality at {@code w = sqrt(m)}:
 * each outer iteration is a least-squares problem for Levenberg-Marquardt, and none can raise the
 * objective. Several starts guard against the local minima that overlap (gamma) brings. Pure and
 * deterministic; a few milliseconds.
 */
public final class ThroughputFitter {
  private static final double UNSEEN_NETWORK = 1.1;
  private static final double[] START = {0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.001};

  private ThroughputFitter() {}

  /**
   * The best fit to profiles of distinct (nodes, replicas, atomic batch), each counting once.
   *
   * <p>Constants that the profiles say nothing about are not fitted: communication never seen is
   * taken as almost free, so that a policy tries it.
   *
   * @throws IllegalArgumentException without any profile
   */
  public static ThroughputFit fit(List<StepProfile> profiles) {
    if (profiles.isEmpty()) {
      throw new IllegalArgumentException("a fit needs at least one step profile");
    }
    ThroughputObjective objective = new ThroughputObjective(profiles);
    double[] frozen = frozen(profiles);
    @Nullable FitDescent best = null;
    for (double[] start : starts(profiles)) {
      FitDescent descent = new FitDescent(objective, frozen, start);
      descent.run();
      if (best == null || descent.bestValue() < best.bestValue()) {
        best = descent;
      }
    }
    double[] point = withUnseenNetwork(Objects.requireNonNull(best).bestPoint(), profiles);
    return new ThroughputFit(params(point), objective.at(point));
  }

  /** Constants that stay fixed, NaN for those to fit. */
  private static double[] frozen(List<StepProfile> profiles) {
    double[] frozen = new double[SIZE];
    Arrays.fill(frozen, Double.NaN);
    if (profiles.stream().mapToInt(StepProfile::atomicBatchSize).distinct().count() == 1) {
      frozen[ALPHA_COMPUTE] = meanComputeSeconds(profiles) / 2;
    }
    if (profiles.stream().noneMatch(p -> p.nodes() > 1)) {
      frozen[ALPHA_NETWORK] = LOWEST;
      frozen[BETA_NETWORK] = LOWEST;
    }
    if (profiles.stream().noneMatch(p -> p.nodes() == 1 && p.replicas() > 1)) {
      frozen[ALPHA_LOCAL] = LOWEST;
      frozen[BETA_LOCAL] = LOWEST;
    }
    if (profiles.stream().noneMatch(p -> p.replicas() > 2)) {
      frozen[BETA_NETWORK] = LOWEST;
      frozen[BETA_LOCAL] = LOWEST;
    }
    return frozen;
  }

  private static double meanComputeSeconds(List<StepProfile> profiles) {
    return profiles.stream()
        .mapToDouble(ThroughputObjective::computeSeconds)
        .average()
        .orElseThrow();
  }

  /** The published start, then starts from the data with little, some and much overlap. */
  private static List<double[]> starts(List<StepProfile> profiles) {
    List<double[]> starts = new ArrayList<>();
    starts.add(START);
    double compute = meanComputeSeconds(profiles);
    double batch = profiles.stream().mapToInt(StepProfile::atomicBatchSize).average().orElseThrow();
    double network = meanSyncSeconds(profiles, true);
    double local = meanSyncSeconds(profiles, false);
    for (double gamma : new double[] {1.1, 1.7, 3}) {
      double overlapped = gamma < 1.5 ? 0 : compute / 2;
      starts.add(
          new double[] {
            compute / 4,
            compute * 0.75 / batch,
            network + overlapped,
            (network + overlapped) / 50,
            local + overlapped / 2,
            (local + overlapped / 2) / 50,
            gamma
          });
    }
    return starts;
  }

  private static double meanSyncSeconds(List<StepProfile> profiles, boolean acrossNodes) {
    return Math.max(
        1e-3,
        profiles.stream()
            .filter(p -> p.nodes() > 1 == acrossNodes && p.replicas() > 1)
            .mapToDouble(StepProfile::syncSeconds)
            .average()
            .orElse(0));
  }

  private static double[] withUnseenNetwork(double[] fitted, List<StepProfile> profiles) {
    double[] p = fitted.clone();
    if (profiles.stream().noneMatch(profile -> profile.nodes() > 1)) {
      // A network is at least a little slower than the inside of a node.
      p[ALPHA_NETWORK] = Math.max(p[ALPHA_NETWORK], UNSEEN_NETWORK * p[ALPHA_LOCAL]);
      p[BETA_NETWORK] = Math.max(p[BETA_NETWORK], UNSEEN_NETWORK * p[BETA_LOCAL]);
    }
    return p;
  }

  private static ThroughputParams params(double[] p) {
    return new ThroughputParams(
        p[ALPHA_COMPUTE],
        p[BETA_COMPUTE],
        p[ALPHA_NETWORK],
        p[BETA_NETWORK],
        p[ALPHA_LOCAL],
        p[BETA_LOCAL],
        p[GAMMA]);
  }
}
