package dev.kastor.scheduler.estimate;

import static dev.kastor.scheduler.estimate.ThroughputObjective.ALPHA_COMPUTE;
import static dev.kastor.scheduler.estimate.ThroughputObjective.ALPHA_LOCAL;
import static dev.kastor.scheduler.estimate.ThroughputObjective.ALPHA_NETWORK;
import static dev.kastor.scheduler.estimate.ThroughputObjective.BETA_COMPUTE;
import static dev.kastor.scheduler.estimate.ThroughputObjective.BETA_LOCAL;
import static dev.kastor.scheduler.estimate.ThroughputObjective.BETA_NETWORK;
import static dev.kastor.scheduler.estimate.ThroughputObjective.GAMMA;
import static dev.kastor.scheduler.estimate.ThroughputObjective.LOWEST;
import static dev.kastor.scheduler.estimate.ThroughputObjective.SIZE;

import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.goodput.ThroughputParams;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Fits the seven constants of {@link ThroughputParams} to step profiles (Pollux, OSDI 2021, section
 * 4.1).
 *
 * <p>The published simulator minimises the {@link ThroughputObjective} within bounds by L-BFGS-B.
 * We remove the bounds by a change of variables (logarithms; a logistic for gamma) and step with
 * the curvature that the squares under the two roots give; {@code sqrt(m) <= m / 2w + w / 2} with
 * equality at {@code w = sqrt(m)}, so that it is never too small. Several starts guard against the
 * local minima that overlap (gamma) brings. Pure and deterministic; about a millisecond.
 */
public final class ThroughputFitter {
  private static final double UNSEEN_NETWORK = 1.1;
  private static final double[] START = {0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.001};

  private static final double LIFT = 1e-3;
  private static final double LEAST_START_GAMMA = 1.01;
  private static final int FEW = 4;
  private static final int AFRESH = 16;

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
    return best(profiles, starts(profiles));
  }

  /**
   * The same, from what was found for all but the newest of the profiles: several times faster. The
   * minimum seldom moves far with one profile more, but where it could be another one now (few
   * profiles, or now and then) all starts are tried.
   */
  static ThroughputFit refit(List<StepProfile> profiles, ThroughputParams before) {
    List<double[]> starts = starts(profiles);
    if (profiles.size() >= FEW && profiles.size() % AFRESH != 0) {
      starts = List.of(lifted(before, starts.getLast()));
    }
    return best(profiles, starts);
  }

  private static ThroughputFit best(List<StepProfile> profiles, List<double[]> starts) {
    if (profiles.isEmpty()) {
      throw new IllegalArgumentException("a fit needs at least one step profile");
    }
    ThroughputObjective objective = new ThroughputObjective(profiles);
    double[] frozen = frozen(profiles);
    double[] best = START;
    double least = Double.POSITIVE_INFINITY;
    for (double[] start : starts) {
      FitDescent descent = new FitDescent(objective, frozen, start);
      double value = descent.run();
      if (value < least) {
        least = value;
        best = descent.point();
      }
    }
    double[] point = withUnseenNetwork(best, profiles);
    return new ThroughputFit(params(point), objective.at(point));
  }

  /** A start from constants of which some lie at their bounds, where descents begin slowly. */
  private static double[] lifted(ThroughputParams before, double[] usual) {
    double[] start = {
      before.alphaCompute(),
      before.betaCompute(),
      before.alphaNetwork(),
      before.betaNetwork(),
      before.alphaLocal(),
      before.betaLocal(),
      Math.max(before.gamma(), LEAST_START_GAMMA)
    };
    for (int i = 0; i < GAMMA; i++) {
      start[i] = Math.max(start[i], usual[i] * LIFT);
    }
    return start;
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
