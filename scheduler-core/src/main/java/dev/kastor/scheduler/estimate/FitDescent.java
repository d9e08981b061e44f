package dev.kastor.scheduler.estimate;

import static dev.kastor.scheduler.estimate.ThroughputObjective.GAMMA;
import static dev.kastor.scheduler.estimate.ThroughputObjective.SIZE;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * One descent of {@link ThroughputFitter} from one start; owns its arrays, used by one thread.
 *
 * <p>Works on free variables z: the logarithm of a constant above its bound, the logit of gamma.
 * Steps are those of Levenberg and Marquardt (SIAM Journal on Applied Mathematics 1963) on the
 * normal equations: seven unknowns are too few for anything dearer.
 */
final class FitDescent {
  private static final double LOWEST = ThroughputObjective.LOWEST;
  private static final double GAMMA_SPAN = 9;
  private static final double FIRST_FLOOR = 1e-2;
  private static final double LAST_FLOOR = 1e-7;
  private static final int STEPS_PER_FLOOR = 12;
  private static final int LAST_STEPS = 100;
  private static final double ENOUGH = 1e-5;
  private static final double LONGEST_STEP = 4;
  private static final double LEAST_Z = -21;
  private static final double MOST_Z = 14;
  private static final double MOST_DAMPING = 1e12;
  private static final double LEAST_CURVATURE = 1e-12;

  private final ThroughputObjective objective;
  private final int[] free;
  private final double[] z;
  private final double[] tried;
  private final double[] point;
  private final double[] triedPoint;
  private final double[] step;
  private final double[] gradient;
  private final double[] curvature;
  private final double[] factor;
  private double damping = 1e-3;

  FitDescent(ThroughputObjective objective, double[] frozen, double[] start) {
    this.objective = objective;
    free = IntStream.range(0, SIZE).filter(i -> Double.isNaN(frozen[i])).toArray();
    z = Arrays.stream(free).mapToDouble(i -> toFree(i, start[i])).toArray();
    tried = new double[free.length];
    step = new double[free.length];
    gradient = new double[free.length];
    curvature = new double[free.length * free.length];
    factor = new double[free.length * free.length];
    point = frozen.clone();
    triedPoint = frozen.clone();
    toPoint(z, point);
  }

  private static double toFree(int index, double value) {
    if (index != GAMMA) {
      return Math.clamp(Math.log(Math.max(value - LOWEST, LOWEST)), LEAST_Z, MOST_Z);
    }
    double share = Math.clamp((value - 1) / GAMMA_SPAN, 1e-9, 1 - 1e-6);
    return Math.log(share / (1 - share));
  }

  private void toPoint(double[] from, double[] p) {
    for (int k = 0; k < free.length; k++) {
      p[free[k]] =
          free[k] == GAMMA ? 1 + GAMMA_SPAN / (1 + Math.exp(-from[k])) : LOWEST + Math.exp(from[k]);
    }
  }

  private double slope(int k) {
    double value = point[free[k]];
    return free[k] == GAMMA ? (value - 1) * (1 - (value - 1) / GAMMA_SPAN) : value - LOWEST;
  }

  /** Where the descent has come to. */
  double[] point() {
    return point;
  }

  /** Descends; returns the objective reached. */
  double run() {
    // The roots have kinks where a group of residuals vanishes: they are approached by stages.
    double floor = FIRST_FLOOR;
    while (floor > LAST_FLOOR) {
      descend(floor, STEPS_PER_FLOOR, 100 * ENOUGH);
      floor /= 10;
    }
    descend(LAST_FLOOR, LAST_STEPS, ENOUGH);
    return objective.at(point);
  }

  private void descend(double floor, int steps, double enough) {
    double value = objective.value(point, floor);
    int small = 0;
    for (int i = 0; i < steps && small < 2; i++) {
      double next = improve(value, floor);
      small = value - next < enough * value ? small + 1 : 0;
      value = next;
    }
  }

  /** One step downhill, shortened until it is one; returns the value there. */
  private double improve(double value, double floor) {
    objective.differentiate(point, floor);
    int size = free.length;
    for (int k = 0; k < size; k++) {
      gradient[k] = objective.gradient[free[k]] * slope(k);
      for (int l = 0; l <= k; l++) {
        curvature[k * size + l] =
            objective.curvature[free[k] * SIZE + free[l]] * slope(k) * slope(l);
      }
    }
    while (damping < MOST_DAMPING) {
      if (solve()) {
        for (int k = 0; k < size; k++) {
          double bounded = Math.clamp(step[k], -LONGEST_STEP, LONGEST_STEP);
          tried[k] = Math.clamp(z[k] + bounded, LEAST_Z, MOST_Z);
        }
        toPoint(tried, triedPoint);
        double there = objective.value(triedPoint, floor);
        if (there < value) {
          System.arraycopy(tried, 0, z, 0, size);
          System.arraycopy(triedPoint, 0, point, 0, SIZE);
          damping = Math.max(damping / 5, 1e-9);
          return there;
        }
      }
      damping = Math.max(damping * 4, 1e-6);
    }
    damping = 1e-3;
    return value;
  }

  /** Solves the damped normal equations by Cholesky; false if they are not positive definite. */
  private boolean solve() {
    int size = free.length;
    for (int k = 0; k < size; k++) {
      for (int l = 0; l <= k; l++) {
        double sum = curvature[k * size + l];
        if (l == k) {
          sum += damping * sum + LEAST_CURVATURE * damping + 1e-30;
        }
        for (int m = 0; m < l; m++) {
          sum -= factor[k * size + m] * factor[l * size + m];
        }
        if (l == k) {
          if (!(sum > 0)) {
            return false;
          }
          factor[k * size + k] = Math.sqrt(sum);
        } else {
          factor[k * size + l] = sum / factor[l * size + l];
        }
      }
    }
    for (int k = 0; k < size; k++) {
      double sum = -gradient[k];
      for (int m = 0; m < k; m++) {
        sum -= factor[k * size + m] * step[m];
      }
      step[k] = sum / factor[k * size + k];
    }
    for (int k = size - 1; k >= 0; k--) {
      double sum = step[k];
      for (int m = k + 1; m < size; m++) {
        sum -= factor[m * size + k] * step[m];
      }
      step[k] = sum / factor[k * size + k];
    }
    return true;
  }
}
