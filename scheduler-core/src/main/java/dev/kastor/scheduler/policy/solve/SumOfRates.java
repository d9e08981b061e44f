package dev.kastor.scheduler.policy.solve;

import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.ArrayRealVector;
import org.apache.commons.math3.linear.DecompositionSolver;
import org.apache.commons.math3.linear.LUDecomposition;

/**
 * Gavel's allocation (OSDI 2020, section 4.1): the shares of time x[j][t] of job j on GPU type t
 * that maximise the sum of rates, with at most all of a job's time and of each type's GPUs given
 * away.
 *
 * <p>Jobs of one kind are alike, so the linear program has many optima, and which one is taken
 * decides who waits. The published scheduler asks an interior-point solver, which ends in the
 * middle of the optima: like jobs share alike. Simplex solvers end in a corner, where one of them
 * gets all. So this follows the central path itself (Wright, Primal-Dual Interior-Point Methods,
 * 1997, chapter 5), eliminating each job's variables: linear in jobs, cubic in types.
 */
public final class SumOfRates {
  private static final int MOST_STEPS = 200;
  private static final double GAP = 1e-10;
  private static final double PRECISE = 1e-6;
  private static final double SHORT = 0.1;
  private static final double CENTERING = 0.3;
  private static final double TO_BOUNDARY = 0.95;

  private final double[][] rates;
  private final int[][] gpus;
  private final int jobs;
  private final int types;

  // Slacks and multipliers: of x >= 0, of each job's time, of each type's GPUs.
  private final double[][] x;
  private final double[][] atLeastZero;
  private final double[] idle;
  private final double[] ofTime;
  private final double[] free;
  private final double[] ofGpus;

  private SumOfRates(double[][] rates, int[][] gpus, int[] capacity) {
    this.rates = rates;
    this.gpus = gpus;
    jobs = rates.length;
    types = capacity.length;
    x = new double[jobs][types];
    atLeastZero = new double[jobs][types];
    idle = new double[jobs];
    ofTime = new double[jobs];
    free = new double[types];
    ofGpus = new double[types];
    double[] wanted = new double[types];
    for (int[] row : gpus) {
      for (int t = 0; t < types; t++) {
        wanted[t] += row[t];
      }
    }
    double most = 0;
    for (double[] row : rates) {
      for (double rate : row) {
        most = Math.max(most, rate);
      }
    }
    for (int t = 0; t < types; t++) {
      free[t] = capacity[t];
    }
    for (int j = 0; j < jobs; j++) {
      idle[j] = 1;
      for (int t = 0; t < types; t++) {
        x[j][t] = 0.5 * Math.min(1.0 / types, capacity[t] / wanted[t]);
        idle[j] -= x[j][t];
        free[t] -= gpus[j][t] * x[j][t];
        atLeastZero[j][t] = most / x[j][t];
      }
      ofTime[j] = most / idle[j];
    }
    for (int t = 0; t < types; t++) {
      ofGpus[t] = most / free[t];
    }
  }

  /**
   * Shares in [0, 1] by job and type.
   *
   * @param rates steps per second of each job on each type, at least 0
   * @param gpus what each job takes of each type, at least 1
   * @param capacity GPUs of each type, at least 1
   */
  public static double[][] shares(double[][] rates, int[][] gpus, int[] capacity) {
    if (rates.length == 0 || capacity.length == 0) {
      return new double[rates.length][capacity.length];
    }
    SumOfRates program = new SumOfRates(rates, gpus, capacity);
    program.solve();
    return program.x;
  }

  private double gap() {
    double sum = 0;
    for (int j = 0; j < jobs; j++) {
      sum += idle[j] * ofTime[j];
      for (int t = 0; t < types; t++) {
        sum += x[j][t] * atLeastZero[j][t];
      }
    }
    for (int t = 0; t < types; t++) {
      sum += free[t] * ofGpus[t];
    }
    return sum / (jobs * types + jobs + types);
  }

  private void solve() {
    double scale = gap();
    double gap = scale;
    for (int step = 0; step < MOST_STEPS && gap > GAP * scale; step++) {
      double length = advance(CENTERING * gap);
      if (length < SHORT && (length == 0 || gap < PRECISE * scale)) {
        return; // The path cannot be followed further in this precision.
      }
      gap = gap();
    }
  }

  /**
   * One Newton step towards the point of the central path where all products are {@code mu}; which
   * share of it was taken.
   */
  private double advance(double mu) {
    double[][][] inverse = new double[jobs][][];
    double[][] right = new double[jobs][types];
    Array2DRowRealMatrix system = new Array2DRowRealMatrix(types, types);
    double[] v = new double[types];
    for (int j = 0; j < jobs; j++) {
      double byTime = ofTime[j] / idle[j];
      for (int t = 0; t < types; t++) {
        right[j][t] = rates[j][t] + mu / x[j][t] - mu / idle[j] - gpus[j][t] * mu / free[t];
      }
      inverse[j] = inverse(j, byTime);
      double[] alone = times(inverse[j], right[j]);
      for (int t = 0; t < types; t++) {
        v[t] += gpus[j][t] * alone[t];
        for (int u = 0; u < types; u++) {
          system.addToEntry(t, u, (double) gpus[j][t] * gpus[j][u] * inverse[j][t][u]);
        }
      }
    }
    for (int t = 0; t < types; t++) {
      system.addToEntry(t, t, free[t] / ofGpus[t]);
    }
    DecompositionSolver solver = new LUDecomposition(system, Double.MIN_NORMAL).getSolver();
    if (!solver.isNonSingular()) {
      return 0;
    }
    double[] price = solver.solve(new ArrayRealVector(v, false)).toArray();
    double[][] dx = new double[jobs][];
    double[] used = new double[types];
    for (int j = 0; j < jobs; j++) {
      double[] r = right[j];
      for (int t = 0; t < types; t++) {
        r[t] -= gpus[j][t] * price[t];
      }
      dx[j] = times(inverse[j], r);
      for (int t = 0; t < types; t++) {
        used[t] += gpus[j][t] * dx[j][t];
      }
    }
    return move(dx, used, mu);
  }

  /** Inverse of a job's own block: a diagonal plus the same number everywhere. */
  private double[][] inverse(int j, double byTime) {
    double[] d = new double[types];
    double sum = 1 / byTime;
    for (int t = 0; t < types; t++) {
      d[t] = x[j][t] / atLeastZero[j][t];
      sum += d[t];
    }
    double[][] inverse = new double[types][types];
    for (int t = 0; t < types; t++) {
      // One of the terms may be all of the sum but a trace: it is never subtracted from it.
      double others = 1 / byTime;
      for (int u = 0; u < types; u++) {
        if (u != t) {
          inverse[t][u] = -d[t] * d[u] / sum;
          others += d[u];
        }
      }
      inverse[t][t] = d[t] * others / sum;
    }
    return inverse;
  }

  private static double[] times(double[][] matrix, double[] vector) {
    double[] product = new double[vector.length];
    for (int t = 0; t < vector.length; t++) {
      for (int u = 0; u < vector.length; u++) {
        product[t] += matrix[t][u] * vector[u];
      }
    }
    return product;
  }

  private double move(double[][] dx, double[] used, double mu) {
    double length = 1;
    double[] didle = new double[jobs];
    double[] dtime = new double[jobs];
    double[][] dzero = new double[jobs][types];
    double[] dgpus = new double[types];
    for (int j = 0; j < jobs; j++) {
      for (int t = 0; t < types; t++) {
        didle[j] -= dx[j][t];
        dzero[j][t] = mu / x[j][t] - atLeastZero[j][t] * (1 + dx[j][t] / x[j][t]);
        length = shorter(length, x[j][t], dx[j][t]);
        length = shorter(length, atLeastZero[j][t], dzero[j][t]);
      }
      dtime[j] = mu / idle[j] - ofTime[j] * (1 + didle[j] / idle[j]);
      length = shorter(length, idle[j], didle[j]);
      length = shorter(length, ofTime[j], dtime[j]);
    }
    for (int t = 0; t < types; t++) {
      dgpus[t] = mu / free[t] - ofGpus[t] * (1 - used[t] / free[t]);
      length = shorter(length, free[t], -used[t]);
      length = shorter(length, ofGpus[t], dgpus[t]);
    }
    for (int j = 0; j < jobs; j++) {
      for (int t = 0; t < types; t++) {
        x[j][t] += length * dx[j][t];
        atLeastZero[j][t] += length * dzero[j][t];
      }
      idle[j] += length * didle[j];
      ofTime[j] += length * dtime[j];
    }
    for (int t = 0; t < types; t++) {
      free[t] -= length * used[t];
      ofGpus[t] += length * dgpus[t];
    }
    return length;
  }

  private static double shorter(double length, double value, double change) {
    return change < 0 ? Math.min(length, TO_BOUNDARY * -value / change) : length;
  }
}
