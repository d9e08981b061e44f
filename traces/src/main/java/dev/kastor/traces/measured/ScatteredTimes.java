package dev.kastor.traces.measured;

import dev.kastor.traces.StepTime;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.apache.commons.math3.exception.MathIllegalStateException;
import org.apache.commons.math3.optim.MaxIter;
import org.apache.commons.math3.optim.linear.LinearConstraint;
import org.apache.commons.math3.optim.linear.LinearConstraintSet;
import org.apache.commons.math3.optim.linear.LinearObjectiveFunction;
import org.apache.commons.math3.optim.linear.NonNegativeConstraint;
import org.apache.commons.math3.optim.linear.Relationship;
import org.apache.commons.math3.optim.linear.SimplexSolver;
import org.apache.commons.math3.optim.nonlinear.scalar.GoalType;

/**
 * Step times between scattered measurements over (nodes, replicas, atomic batch): linear in the
 * Delaunay cell that holds the point, as the published simulators interpolate.
 *
 * <p>The cell needs no mesh. Lifted to the paraboloid of squared distances, Delaunay cells are the
 * facets of the lower hull (Edelsbrunner and Seidel, 1986), so the weights of the cell's corners
 * solve a linear program: the convex combination that makes the point from measured ones with least
 * mean squared distance. Where more than four measurements lie on one empty sphere, as on lattices
 * they do, the cell is not unique, and ours may be another than a mesh generator's. Answers are
 * remembered; used by one thread.
 */
final class ScatteredTimes {
  private static final int MOST_PIVOTS = 10_000;

  private record Point(int nodes, int replicas, int atomicBatch) {
    double squaredDistance(Point other) {
      double n = nodes - other.nodes;
      double r = replicas - other.replicas;
      double b = atomicBatch - other.atomicBatch;
      return n * n + r * r + b * b;
    }
  }

  private static final class Mean {
    private double step;
    private double sync;
    private int count;

    StepTime time() {
      return new StepTime(step / count, sync / count);
    }
  }

  private final SequencedMap<Point, Mean> measured = new LinkedHashMap<>();
  private final Map<Point, StepTime> known = new HashMap<>();

  /** Takes in a measurement; several of one point count as their mean. */
  void add(int nodes, int replicas, int atomicBatch, StepTime time) {
    Point point = new Point(nodes, replicas, atomicBatch);
    Mean mean = measured.computeIfAbsent(point, p -> new Mean());
    mean.step += time.stepSeconds();
    mean.sync += time.syncSeconds();
    mean.count++;
  }

  /** Takes in a measurement of a point that nothing is known about. */
  void addUnlessMeasured(int nodes, int replicas, int atomicBatch, StepTime time) {
    if (!measured.containsKey(new Point(nodes, replicas, atomicBatch))) {
      add(nodes, replicas, atomicBatch, time);
    }
  }

  /** {@link StepTime#UNKNOWN} outside of the hull of the measurements. */
  StepTime at(int nodes, int replicas, int atomicBatch) {
    return known.computeIfAbsent(new Point(nodes, replicas, atomicBatch), this::interpolate);
  }

  private StepTime interpolate(Point query) {
    Mean exact = measured.get(query);
    if (exact != null) {
      return exact.time();
    }
    List<Point> points = List.copyOf(measured.keySet());
    List<Mean> means = List.copyOf(measured.values());
    int size = points.size();
    double[] distances = new double[size];
    double[] ones = new double[size];
    double[] nodes = new double[size];
    double[] replicas = new double[size];
    double[] batches = new double[size];
    for (int i = 0; i < size; i++) {
      Point point = points.get(i);
      distances[i] = query.squaredDistance(point);
      ones[i] = 1;
      nodes[i] = point.nodes() - query.nodes();
      replicas[i] = point.replicas() - query.replicas();
      batches[i] = point.atomicBatch() - query.atomicBatch();
    }
    double[] weights;
    try {
      weights =
          new SimplexSolver()
              .optimize(
                  new MaxIter(MOST_PIVOTS),
                  new LinearObjectiveFunction(distances, 0),
                  new LinearConstraintSet(
                      new LinearConstraint(ones, Relationship.EQ, 1),
                      new LinearConstraint(nodes, Relationship.EQ, 0),
                      new LinearConstraint(replicas, Relationship.EQ, 0),
                      new LinearConstraint(batches, Relationship.EQ, 0)),
                  GoalType.MINIMIZE,
                  new NonNegativeConstraint(true))
              .getPoint();
    } catch (MathIllegalStateException e) {
      return StepTime.UNKNOWN; // No combination: the point lies outside of the hull.
    }
    double step = 0;
    double sync = 0;
    for (int i = 0; i < size; i++) {
      if (weights[i] != 0) {
        StepTime time = means.get(i).time();
        step += weights[i] * time.stepSeconds();
        sync += weights[i] * time.syncSeconds();
      }
    }
    return new StepTime(step, sync);
  }
}
