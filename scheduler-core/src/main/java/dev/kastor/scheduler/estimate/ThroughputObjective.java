package dev.kastor.scheduler.estimate;

import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.goodput.ThroughputParams;
import java.util.Arrays;
import java.util.List;

/**
 * Misfit of {@link ThroughputParams} to step profiles, and its derivatives.
 *
 * <p>The objective is {@code RMSE(log computeSeconds) + RMSE(log stepSeconds) + 1e-3 (gamma - 1)^2
 * + 1e-2 ((betaNetwork / alphaNetwork)^2 + (betaLocal / alphaLocal)^2)}: Pollux, OSDI 2021, section
 * 4.1, with the regularisation of its published simulator. An evaluation leaves the value, the
 * gradient and a positive semidefinite stand-in for the second derivatives here; owned by one fit.
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

  private static final double GAMMA_WEIGHT = 1e-3;
  private static final double RATIO_WEIGHT = 1e-2;
  private static final double TINY = 1e-8;
  // A report may say that a whole step was synchronisation; its logarithm must stay finite.
  private static final double LEAST_COMPUTE_SHARE = 1e-3;

  private final int count;
  private final double[] atomicBatch;
  private final double[] logComputeSeconds;
  private final double[] logStepSeconds;
  private final double[] beyondTwo;
  private final int[] alphaSync;
  private final double[] row = new double[SIZE];
  private final int[] columns = new int[5];
  private final double[] computeGradient = new double[SIZE];
  private final double[] computeSquares = new double[SIZE * SIZE];
  private final double[] stepGradient = new double[SIZE];
  private final double[] stepSquares = new double[SIZE * SIZE];

  /** Derivatives of the last evaluation. */
  final double[] gradient = new double[SIZE];

  /** Second derivatives, by rows, with all residuals taken as linear in the constants. */
  final double[] curvature = new double[SIZE * SIZE];

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

  /** The objective at {@code p}. */
  double at(double[] p) {
    return value(p, 0);
  }

  /**
   * The objective with both roots rounded off below {@code floor}, where they would have a kink:
   * {@code sqrt(m + floor^2)} in place of {@code sqrt(m)}.
   */
  double value(double[] p, double floor) {
    double computeSum = 0;
    double stepSum = 0;
    for (int i = 0; i < count; i++) {
      double compute = p[ALPHA_COMPUTE] + p[BETA_COMPUTE] * atomicBatch[i];
      double logCompute = Math.log(compute);
      double residual = logCompute - logComputeSeconds[i];
      computeSum += residual * residual;
      double less = Math.log(sync(i, p)) - logCompute;
      double power = Math.exp(-p[GAMMA] * Math.abs(less));
      double logStep = logCompute + Math.max(less, 0) + Math.log(1 + power) / p[GAMMA];
      double stepResidual = logStep - logStepSeconds[i];
      stepSum += stepResidual * stepResidual;
    }
    return root(computeSum, floor) + root(stepSum, floor) + regularisation(p);
  }

  private double root(double sum, double floor) {
    return Math.sqrt(sum / count + floor * floor);
  }

  private double sync(int i, double[] p) {
    int alpha = alphaSync[i];
    return alpha < 0 ? TINY + TINY * beyondTwo[i] : p[alpha] + p[alpha + 1] * beyondTwo[i];
  }

  private static double regularisation(double[] p) {
    double network = p[BETA_NETWORK] / p[ALPHA_NETWORK];
    double local = p[BETA_LOCAL] / p[ALPHA_LOCAL];
    return GAMMA_WEIGHT * (p[GAMMA] - 1) * (p[GAMMA] - 1)
        + RATIO_WEIGHT * (network * network + local * local);
  }

  /** Sets {@link #gradient} and {@link #curvature} for {@link #value} at {@code p}. */
  void differentiate(double[] p, double floor) {
    Arrays.fill(computeGradient, 0);
    Arrays.fill(computeSquares, 0);
    Arrays.fill(stepGradient, 0);
    Arrays.fill(stepSquares, 0);
    double computeSum = 0;
    double stepSum = 0;
    columns[0] = ALPHA_COMPUTE;
    columns[1] = BETA_COMPUTE;
    columns[2] = GAMMA;
    for (int i = 0; i < count; i++) {
      double compute = p[ALPHA_COMPUTE] + p[BETA_COMPUTE] * atomicBatch[i];
      double logCompute = Math.log(compute);
      double residual = logCompute - logComputeSeconds[i];
      row[ALPHA_COMPUTE] = 1 / compute;
      row[BETA_COMPUTE] = atomicBatch[i] / compute;
      computeSum += residual * residual;
      add(residual, 2, computeGradient, computeSquares);

      double stepResidual = stepRow(i, p, compute, logCompute);
      stepSum += stepResidual * stepResidual;
      int used = 3;
      if (alphaSync[i] >= 0) {
        columns[3] = alphaSync[i];
        columns[4] = alphaSync[i] + 1;
        used = 5;
      }
      add(stepResidual, used, stepGradient, stepSquares);
    }
    double computeWeight = 1 / (count * root(computeSum, floor));
    double stepWeight = 1 / (count * root(stepSum, floor));
    for (int k = 0; k < SIZE; k++) {
      gradient[k] = computeWeight * computeGradient[k] + stepWeight * stepGradient[k];
    }
    for (int k = 0; k < SIZE * SIZE; k++) {
      curvature[k] = computeWeight * computeSquares[k] + stepWeight * stepSquares[k];
    }
    gradient[GAMMA] += 2 * GAMMA_WEIGHT * (p[GAMMA] - 1);
    curvature[GAMMA * SIZE + GAMMA] += 2 * GAMMA_WEIGHT;
    addRatio(p, ALPHA_NETWORK);
    addRatio(p, ALPHA_LOCAL);
  }

  /** Sets the derivatives of the logarithm of a step's time; returns its residual. */
  private double stepRow(int i, double[] p, double compute, double logCompute) {
    double sync = sync(i, p);
    double gamma = p[GAMMA];
    double less = Math.log(sync) - logCompute;
    double power = Math.exp(-gamma * Math.abs(less));
    double logSum = Math.log(1 + power);
    double smallShare = power / (1 + power);
    double syncShare = less > 0 ? 1 - smallShare : smallShare;
    row[ALPHA_COMPUTE] = (1 - syncShare) / compute;
    row[BETA_COMPUTE] = row[ALPHA_COMPUTE] * atomicBatch[i];
    row[GAMMA] = -(smallShare * Math.abs(less) + logSum / gamma) / gamma;
    if (alphaSync[i] >= 0) {
      row[alphaSync[i]] = syncShare / sync;
      row[alphaSync[i] + 1] = row[alphaSync[i]] * beyondTwo[i];
    }
    return logCompute + Math.max(less, 0) + logSum / gamma - logStepSeconds[i];
  }

  private void add(double residual, int used, double[] sums, double[] squares) {
    for (int k = 0; k < used; k++) {
      int column = columns[k];
      double here = row[column];
      sums[column] += residual * here;
      for (int l = 0; l < used; l++) {
        squares[column * SIZE + columns[l]] += here * row[columns[l]];
      }
    }
  }

  private void addRatio(double[] p, int alpha) {
    double ratio = p[alpha + 1] / p[alpha];
    double byAlpha = -ratio / p[alpha];
    double byBeta = 1 / p[alpha];
    double weight = 2 * RATIO_WEIGHT;
    gradient[alpha] += weight * ratio * byAlpha;
    gradient[alpha + 1] += weight * ratio * byBeta;
    curvature[alpha * SIZE + alpha] += weight * byAlpha * byAlpha;
    curvature[alpha * SIZE + alpha + 1] += weight * byAlpha * byBeta;
    curvature[(alpha + 1) * SIZE + alpha] += weight * byAlpha * byBeta;
    curvature[(alpha + 1) * SIZE + alpha + 1] += weight * byBeta * byBeta;
  }
}
