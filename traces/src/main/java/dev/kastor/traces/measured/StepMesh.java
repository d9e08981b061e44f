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
 * points are not unique. Answers are remembered; safe for use by several threads.
 */
final class StepMesh {
  private record Query(int nodes, int replicas, int atomicBatch) {}

  private final double[][] times;
  private final TetrahedralMesh mesh;
  private final int mostNodes;
  private final Map<Query, StepTime> known = new ConcurrentHashMap<>();

  private StepMesh(double[][] points, double[][] times, int[][] tetrahedra) {
    this.times = times;
    mesh = new TetrahedralMesh(points, tetrahedra);
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
    if (cells.isEmpty()) {
      throw new TraceException("%s has no tetrahedra".formatted(tetrahedraFile));
    }
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

  /** Nodes beyond the largest measured count as that many. */
  StepTime at(int nodes, int replicas, int atomicBatch) {
    return known.computeIfAbsent(
        new Query(Math.min(nodes, mostNodes), replicas, atomicBatch), this::interpolate);
  }

  private StepTime interpolate(Query query) {
    double[] weights = new double[4];
    int cell =
        mesh.locate(new double[] {query.nodes(), query.replicas(), query.atomicBatch()}, weights);
    if (cell < 0) {
      return StepTime.UNKNOWN;
    }
    double step = 0;
    double sync = 0;
    int[] corners = mesh.corners(cell);
    for (int v = 0; v < corners.length; v++) {
      step += weights[v] * times[corners[v]][0];
      sync += weights[v] * times[corners[v]][1];
    }
    return new StepTime(step, sync);
  }
}
