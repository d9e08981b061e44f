package dev.kastor.traces.measured;

import dev.kastor.traces.CsvRow;
import dev.kastor.traces.StepTime;
import dev.kastor.traces.TraceException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Step times between scattered measurements: linear inside each tetrahedron of a given mesh over
 * (nodes, replicas, atomic batch). The mesh is part of the data, since Delaunay meshes of lattice
 * points are not unique. Answers are remembered; safe for several threads.
 */
final class StepMesh {
  private static final double TOLERANCE = 1e-9;

  private record Query(int nodes, int replicas, int atomicBatch) {}

  private static final class Box {
    private final double[] low;
    private final double[] high;

    Box(double[] low, double[] high) {
      this.low = low;
      this.high = high;
    }

    boolean holds(double[] x) {
      for (int d = 0; d < 3; d++) {
        if (x[d] < low[d] || x[d] > high[d]) {
          return false;
        }
      }
      return true;
    }
  }

  private final double[][] points;
  private final double[][] times;
  private final int[][] tetrahedra;
  private final Box[] boxes;
  private final int mostNodes;
  private final Map<Query, StepTime> known = new ConcurrentHashMap<>();

  private StepMesh(double[][] points, double[][] times, int[][] tetrahedra) {
    this.points = points;
    this.times = times;
    this.tetrahedra = tetrahedra;
    boxes = new Box[tetrahedra.length];
    for (int t = 0; t < tetrahedra.length; t++) {
      boxes[t] = box(tetrahedra[t]);
    }
    double most = 0;
    for (double[] point : points) {
      most = Math.max(most, point[0]);
    }
    mostNodes = (int) most;
  }

  static StepMesh read(Path pointsFile, Path tetrahedraFile) throws TraceException {
    List<CsvRow> rows =
        CsvRow.readAtLeast(
            pointsFile,
            List.of("num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time"));
    double[][] points = new double[rows.size()][];
    double[][] times = new double[rows.size()][];
    for (int i = 0; i < points.length; i++) {
      CsvRow row = rows.get(i);
      points[i] =
          new double[] {
            row.positive("num_nodes"), row.positive("num_replicas"), row.positive("local_bsz")
          };
      times[i] = new double[] {row.atLeast("step_time", 0), row.atLeast("sync_time", 0)};
    }
    List<CsvRow> cells = CsvRow.readAtLeast(tetrahedraFile, List.of("v0", "v1", "v2", "v3"));
    int[][] tetrahedra = new int[cells.size()][4];
    for (int t = 0; t < tetrahedra.length; t++) {
      for (int v = 0; v < 4; v++) {
        double index = cells.get(t).atLeast("v" + v, 0);
        if (index >= points.length || index != Math.rint(index)) {
          throw cells.get(t).problem("v" + v, "there is no point %s".formatted(index));
        }
        tetrahedra[t][v] = (int) index;
      }
    }
    return new StepMesh(points, times, tetrahedra);
  }

  private Box box(int[] corners) {
    double[] low = points[corners[0]].clone();
    double[] high = low.clone();
    for (int v = 1; v < 4; v++) {
      for (int d = 0; d < 3; d++) {
        low[d] = Math.min(low[d], points[corners[v]][d]);
        high[d] = Math.max(high[d], points[corners[v]][d]);
      }
    }
    return new Box(low, high);
  }

  /** Nodes beyond the largest measured count as that many. */
  StepTime at(int nodes, int replicas, int atomicBatch) {
    return known.computeIfAbsent(
        new Query(Math.min(nodes, mostNodes), replicas, atomicBatch), this::interpolate);
  }

  private StepTime interpolate(Query query) {
    double[] x = {query.nodes(), query.replicas(), query.atomicBatch()};
    double[] weights = new double[4];
    double[] best = new double[4];
    int found = -1;
    double inside = -TOLERANCE;
    for (int t = 0; t < tetrahedra.length; t++) {
      if (boxes[t].holds(x) && barycentric(tetrahedra[t], x, weights)) {
        double least = Math.min(Math.min(weights[0], weights[1]), Math.min(weights[2], weights[3]));
        // Cells that share the point agree on it; the one it lies deepest in is the most exact.
        if (least > inside) {
          inside = least;
          found = t;
          System.arraycopy(weights, 0, best, 0, 4);
        }
      }
    }
    if (found < 0) {
      return StepTime.UNKNOWN;
    }
    double step = 0;
    double sync = 0;
    for (int v = 0; v < 4; v++) {
      step += best[v] * times[tetrahedra[found][v]][0];
      sync += best[v] * times[tetrahedra[found][v]][1];
    }
    return new StepTime(step, sync);
  }

  /** Cramer's rule; false for a flat cell. */
  private boolean barycentric(int[] corners, double[] x, double[] weights) {
    double[] o = points[corners[3]];
    double[] a = minus(points[corners[0]], o);
    double[] b = minus(points[corners[1]], o);
    double[] c = minus(points[corners[2]], o);
    double[] p = minus(x, o);
    double volume = determinant(a, b, c);
    if (Math.abs(volume) < TOLERANCE) {
      return false;
    }
    weights[0] = determinant(p, b, c) / volume;
    weights[1] = determinant(a, p, c) / volume;
    weights[2] = determinant(a, b, p) / volume;
    weights[3] = 1 - weights[0] - weights[1] - weights[2];
    return true;
  }

  private static double[] minus(double[] a, double[] b) {
    return new double[] {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  }

  private static double determinant(double[] a, double[] b, double[] c) {
    return a[0] * (b[1] * c[2] - b[2] * c[1])
        - a[1] * (b[0] * c[2] - b[2] * c[0])
        + a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
}
