package dev.kastor.scheduler.goodput;

import dev.kastor.protocol.StepProfile;
import java.util.Arrays;
import java.util.List;

/**
 * Misfit of {@link ThroughputParams} to step profiles, and its derivatives.
 *
 * <p>The objective is {@code RMSE(log computeSeconds) + RMSE(log stepSeconds) + 1e-3 (gamma - 1)^2
 * + 1e-2 ((betaNetwork / alphaNetwork)^2 + (betaLocal / alphaLocal)^2)}: Pollux, OSDI 2021, section
 * 4.1, with the regularisation of its published simulator. All terms but the two roots are squares,
 * so it is offered as residuals for a least-squares solver too (see {@link ThroughputFitter}).
 */
final class ThroughputObjective {
  static final int ALPHA_COMPUTE = 0;
  static final int BETA_COMPUTE = 1;
  static final int ALPHA_NETWORK = 2;
  static final int BETA_NETWORK = 3;
  static final int ALPHA_LOCAL = 4;
  static final int BETA_LOCAL = 5;
  static final int GAMMA = 6;
  static final int SIZE = 7;

  /** The lower bound of all constants but gamma. */
  static final double LOWEST = 1e-8;

  private static final double GAMMA_WEIGHT = Math.sqrt(1e-3);
  private static final double RATIO_WEIGHT = 0.1;
  private static final double TINY = 1e-8;
  // A report may say that a whole step was synchronisation; its logarithm must stay finite.
  private static final double LEAST_COMPUTE_SHARE = 1e-3;

  private final int count;
  private final double[] atomicBatch;
  private final double[] logComputeSeconds;
  private final double[] logStepSeconds;
  private final double[] beyondTwo;
  private final int[] alphaSync;

  ThroughputObjective(List<StepProfile> profiles) {
    count = profiles.size();
    atomicBatch = new double[count];
    logComputeSeconds = new double[count];
    logStepSeconds = new double[count];
    beyondTwo = new double[count];
    alphaSync = new int[count];
    for (int i = 0; i < count; i++) {
      StepProfile profile = profiles.get(i);
      atomicBatch[i] = profile.atomicBatchSize();
      logComputeSeconds[i] = Math.log(computeSeconds(profile));
      logStepSeconds[i] = Math.log(profile.stepSeconds());
      beyondTwo[i] = Math.max(profile.replicas() - 2, TINY);
      alphaSync[i] =
          profile.nodes() > 1 ? ALPHA_NETWORK : profile.replicas() > 1 ? ALPHA_LOCAL : -1;
    }
  }

  static double computeSeconds(StepProfile profile) {
    double step = profile.stepSeconds();
    return Math.max(step - profile.syncSeconds(), step * LEAST_COMPUTE_SHARE);
  }

  int residualCount() {
    return 2 * count + 3;
  }

  /**
   * Unweighted residuals at {@code p}: {@code count} of compute, {@code count} of step, three of
   * regularisation; with {@code jacobian} rows of {@link #SIZE} derivatives by {@code p}.
   */
  void residuals(double[] p, double[] residuals, double[][] jacobian) {
    for (int i = 0; i < count; i++) {
      double compute = p[ALPHA_COMPUTE] + p[BETA_COMPUTE] * atomicBatch[i];
      residuals[i] = Math.log(compute) - logComputeSeconds[i];
      double[] row = cleared(jacobian[i]);
      row[ALPHA_COMPUTE] = 1 / compute;
      row[BETA_COMPUTE] = atomicBatch[i] / compute;
      step(i, p, compute, residuals, cleared(jacobian[count + i]));
    }
    int at = 2 * count;
    residuals[at] = GAMMA_WEIGHT * (p[GAMMA] - 1);
    cleared(jacobian[at])[GAMMA] = GAMMA_WEIGHT;
    ratio(at + 1, ALPHA_NETWORK, p, residuals, cleared(jacobian[at + 1]));
    ratio(at + 2, ALPHA_LOCAL, p, residuals, cleared(jacobian[at + 2]));
  }

  private void step(int i, double[] p, double compute, double[] residuals, double[] row) {
    int alpha = alphaSync[i];
    double sync = alpha < 0 ? TINY + TINY * beyondTwo[i] : p[alpha] + p[alpha + 1] * beyondTwo[i];
    double gamma = p[GAMMA];
    double larger = Math.max(compute, sync);
    double logCompute = Math.log(compute / larger);
    double logSync = Math.log(sync / larger);
    double computePower = Math.exp(gamma * logCompute);
    double syncPower = Math.exp(gamma * logSync);
    double sum = computePower + syncPower;
    double logSum = Math.log(sum);
    residuals[count + i] = Math.log(larger) + logSum / gamma - logStepSeconds[i];
    double byCompute = computePower / (sum * compute);
    row[ALPHA_COMPUTE] = byCompute;
    row[BETA_COMPUTE] = byCompute * atomicBatch[i];
    if (alpha >= 0) {
      double bySync = syncPower / (sum * sync);
      row[alpha] = bySync;
      row[alpha + 1] = bySync * beyondTwo[i];
    }
    row[GAMMA] =
        (computePower * logCompute + syncPower * logSync) / (gamma * sum)
            - logSum / (gamma * gamma);
  }

  private static void ratio(int at, int alpha, double[] p, double[] residuals, double[] row) {
    double ratio = p[alpha + 1] / p[alpha];
    residuals[at] = RATIO_WEIGHT * ratio;
    row[alpha] = -RATIO_WEIGHT * ratio / p[alpha];
    row[alpha + 1] = RATIO_WEIGHT / p[alpha];
  }

  private static double[] cleared(double[] row) {
    Arrays.fill(row, 0);
    return row;
  }

  /** Root mean square of the compute residuals (part 0) or the step residuals (part 1). */
  double rootMeanSquare(double[] residuals, int part) {
    double sum = 0;
    for (int i = part * count; i < (part + 1) * count; i++) {
      sum += residuals[i] * residuals[i];
    }
    return Math.sqrt(sum / count);
  }

  /** The objective at {@code p}. */
  double at(double[] p) {
    double[] residuals = new double[residualCount()];
    residuals(p, residuals, new double[residualCount()][SIZE]);
    return value(residuals);
  }

  /** The objective, given the residuals. */
  double value(double[] residuals) {
    double value = rootMeanSquare(residuals, 0) + rootMeanSquare(residuals, 1);
    for (int i = 2 * count; i < residuals.length; i++) {
      value += residuals[i] * residuals[i];
    }
    return value;
  }

  /** The factor that turns residual {@code i} into a term of the majorising sum of squares. */
  double weight(int i, double computeError, double stepError) {
    if (i >= 2 * count) {
      return 1;
    }
    return Math.sqrt(1 / (2 * count * (i < count ? computeError : stepError)));
  }
}
