package dev.kastor.scheduler.goodput;

import static dev.kastor.scheduler.goodput.ThroughputObjective.GAMMA;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.apache.commons.math3.fitting.leastsquares.LeastSquaresBuilder;
import org.apache.commons.math3.fitting.leastsquares.LevenbergMarquardtOptimizer;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.ArrayRealVector;
import org.apache.commons.math3.linear.RealMatrix;
import org.apache.commons.math3.linear.RealVector;
import org.apache.commons.math3.util.Pair;

/**
 * One descent of {@link ThroughputFitter} from one start; owns its arrays, used by one thread.
 *
 * <p>Works on free variables z: the logarithm of a constant above its bound, the logit of gamma.
 */
final class FitDescent {
  private static final LevenbergMarquardtOptimizer OPTIMIZER = new LevenbergMarquardtOptimizer();
  private static final double LOWEST = ThroughputObjective.LOWEST;
  private static final double GAMMA_SPAN = 9;
  private static final int MAX_ROUNDS = 60;
  private static final int STEPS_PER_ROUND = 12;
  private static final double ENOUGH = 1e-5;
  private static final double LEAST_Z = -21;
  private static final double MOST_Z = 14;

  private final ThroughputObjective objective;
  private final double[] frozen;
  private final int[] free;
  private final double[] residuals;
  private final double[][] jacobian;
  private double[] z;
  private double bestValue = Double.POSITIVE_INFINITY;
  private double[] bestPoint;
  private double computeError = 1;
  private double stepError = 1;

  FitDescent(ThroughputObjective objective, double[] frozen, double[] start) {
    this.objective = objective;
    this.frozen = frozen;
    free =
        IntStream.range(0, ThroughputObjective.SIZE).filter(i -> Double.isNaN(frozen[i])).toArray();
    residuals = new double[objective.residualCount()];
    jacobian = new double[objective.residualCount()][ThroughputObjective.SIZE];
    z = Arrays.stream(free).mapToDouble(i -> toFree(i, start[i])).toArray();
    bestPoint = point(z);
  }

  private static double toFree(int index, double value) {
    if (index != GAMMA) {
      return Math.log(Math.max(value - LOWEST, LOWEST));
    }
    double share = (value - 1) / GAMMA_SPAN;
    return Math.log(share / (1 - share));
  }

  private double[] point(double[] z) {
    double[] p = frozen.clone();
    for (int k = 0; k < free.length; k++) {
      p[free[k]] =
          free[k] == GAMMA ? 1 + GAMMA_SPAN / (1 + Math.exp(-z[k])) : LOWEST + Math.exp(z[k]);
    }
    return p;
  }

  private double slope(int k, double[] p) {
    double value = p[free[k]];
    return free[k] == GAMMA ? (value - 1) * (1 - (value - 1) / GAMMA_SPAN) : value - LOWEST;
  }

  double bestValue() {
    return bestValue;
  }

  double[] bestPoint() {
    return bestPoint;
  }

  void run() {
    // The roots have kinks where a residual group vanishes: the weights approach them by stages.
    double floor = 1e-2;
    evaluate(z);
    double previous = Double.POSITIVE_INFINITY;
    for (int round = 0; round < MAX_ROUNDS; round++) {
      computeError = Math.hypot(objective.rootMeanSquare(residuals, 0), floor);
      stepError = Math.hypot(objective.rootMeanSquare(residuals, 1), floor);
      z =
          OPTIMIZER
              .optimize(
                  new LeastSquaresBuilder()
                      .start(z)
                      .target(new double[residuals.length])
                      .model(this::weighted)
                      .parameterValidator(FitDescent::clamped)
                      .checker((iteration, before, after) -> iteration >= STEPS_PER_ROUND)
                      .maxEvaluations(1000)
                      .maxIterations(1000)
                      .build())
              .getPoint()
              .toArray();
      double value = evaluate(z);
      if (floor <= 1e-7 && previous - value < ENOUGH * value) {
        return;
      }
      previous = value;
      floor = Math.max(floor / 10, 1e-7);
    }
  }

  private static RealVector clamped(RealVector z) {
    return z.map(value -> Math.min(Math.max(value, LEAST_Z), MOST_Z));
  }

  private double evaluate(double[] at) {
    double[] p = point(at);
    objective.residuals(p, residuals, jacobian);
    double value = objective.value(residuals);
    if (value < bestValue) {
      bestValue = value;
      bestPoint = p;
    }
    return value;
  }

  private Pair<RealVector, RealMatrix> weighted(RealVector at) {
    double[] p = point(at.toArray());
    objective.residuals(p, residuals, jacobian);
    double[] values = new double[residuals.length];
    double[][] rows = new double[residuals.length][free.length];
    double[] slopes = new double[free.length];
    for (int k = 0; k < free.length; k++) {
      slopes[k] = slope(k, p);
    }
    for (int i = 0; i < residuals.length; i++) {
      double weight = objective.weight(i, computeError, stepError);
      values[i] = weight * residuals[i];
      for (int k = 0; k < free.length; k++) {
        rows[i][k] = weight * jacobian[i][free[k]] * slopes[k];
      }
    }
    return new Pair<>(new ArrayRealVector(values, false), new Array2DRowRealMatrix(rows, false));
  }
}
