package dev.kastor.traces.measured;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds the tetrahedron of a Delaunay mesh that holds a point.
 *
 * <p>Measurements lie on a lattice, where many points share one circumsphere. Qhull splits such
 * groups into tetrahedra that do not meet face to face, with flat ones between them, so a point on
 * a face can lie in cells that disagree. Which of them counts is decided by the order of the
 * search; to agree with the published simulators we search as SciPy's {@code Delaunay.find_simplex}
 * does: a walk towards the cell whose circumsphere holds the point most deeply, then from neighbour
 * to neighbour towards the point, and where a flat cell is in the way, one cell after the other.
 */
final class TetrahedralMesh {
  private static final double EPSILON = 100 * Math.ulp(1.0);
  private static final double BROAD_EPSILON = Math.sqrt(Math.ulp(1.0));
  private static final int CORNERS = 4;
  private static final int OUTSIDE = -1;

  /** Qhull adds a point at infinity, this much above the highest lifted one. */
  private static final double INFINITY_HEIGHT = 1.1;

  /** A circumsphere; its distance function is the one of the lifted facet's hyperplane. */
  private static final class Sphere {
    private final double[] centre;
    private final double squaredRadius;
    private final double scale;

    Sphere(double[] centre, double squaredRadius, double scale) {
      this.centre = centre;
      this.squaredRadius = squaredRadius;
      this.scale = scale;
    }

    double distance(double[] x) {
      double gap = squaredRadius;
      double squaredCentre = 0;
      for (int d = 0; d < 3; d++) {
        gap -= (x[d] - centre[d]) * (x[d] - centre[d]);
        squaredCentre += centre[d] * centre[d];
      }
      return scale * gap / Math.sqrt(1 + 4 * scale * scale * squaredCentre);
    }

    boolean sameAs(Sphere other) {
      double worst = Math.abs(squaredRadius - other.squaredRadius) / (1 + squaredRadius);
      for (int d = 0; d < 3; d++) {
        worst = Math.max(worst, Math.abs(centre[d] - other.centre[d]) / (1 + Math.abs(centre[d])));
      }
      return worst < 1e-6;
    }
  }

  private final double[][] points;
  private final int[][] corners;
  private final int[][] neighbours;
  private final boolean[] flat;
  private final Sphere[] spheres;

  TetrahedralMesh(double[][] points, int[][] corners) {
    this.points = points;
    this.corners = corners;
    neighbours = neighbours(corners);
    flat = new boolean[corners.length];
    @Nullable Sphere[] found = new Sphere[corners.length];
    double scale = liftScale();
    for (int t = 0; t < corners.length; t++) {
      flat[t] = volume(t) == 0;
      found[t] = flat[t] ? null : sphere(t, scale);
    }
    spheres = completed(found);
  }

  private static int[][] neighbours(int[][] corners) {
    Map<Set<Integer>, Integer> open = new HashMap<>();
    int[][] neighbours = new int[corners.length][CORNERS];
    for (int t = 0; t < corners.length; t++) {
      Arrays.fill(neighbours[t], OUTSIDE);
      for (int k = 0; k < CORNERS; k++) {
        Set<Integer> face = face(corners[t], k);
        Integer other = open.remove(face);
        if (other == null) {
          open.put(face, t);
          continue;
        }
        neighbours[t][k] = other;
        for (int m = 0; m < CORNERS; m++) {
          if (face(corners[other], m).equals(face)) {
            neighbours[other][m] = t;
          }
        }
      }
    }
    return neighbours;
  }

  private static Set<Integer> face(int[] corners, int opposite) {
    Set<Integer> face = new TreeSet<>();
    for (int k = 0; k < CORNERS; k++) {
      if (k != opposite) {
        face.add(corners[k]);
      }
    }
    return face;
  }

  /** Qhull scales the lifted coordinate to the range of the others before it measures distances. */
  private double liftScale() {
    double largest = 0;
    double lowest = Double.POSITIVE_INFINITY;
    double highest = 0;
    for (double[] point : points) {
      double lifted = dot(point, point);
      lowest = Math.min(lowest, lifted);
      highest = Math.max(highest, lifted);
      for (double coordinate : point) {
        largest = Math.max(largest, Math.abs(coordinate));
      }
    }
    return largest / (INFINITY_HEIGHT * highest - lowest);
  }

  private Sphere sphere(int t, double scale) {
    double[] o = points[corners[t][3]];
    double[][] edges = new double[3][];
    double[] half = new double[3];
    for (int k = 0; k < 3; k++) {
      double[] p = points[corners[t][k]];
      edges[k] = minus(p, o);
      half[k] = (dot(p, p) - dot(o, o)) / 2;
    }
    double volume = volume(t);
    double[] centre = new double[3];
    for (int d = 0; d < 3; d++) {
      double[][] replaced = {edges[0].clone(), edges[1].clone(), edges[2].clone()};
      for (int k = 0; k < 3; k++) {
        replaced[k][d] = half[k];
      }
      centre[d] = determinant(replaced[0], replaced[1], replaced[2]) / volume;
    }
    double[] radius = minus(o, centre);
    return new Sphere(centre, dot(radius, radius), scale);
  }

  /** A flat cell belongs to the group of which two of its neighbours are, and shares its sphere. */
  private Sphere[] completed(@Nullable Sphere[] found) {
    List<Integer> missing = new ArrayList<>();
    for (int t = 0; t < found.length; t++) {
      if (found[t] == null) {
        missing.add(t);
      }
    }
    boolean strict = true;
    while (!missing.isEmpty()) {
      List<Integer> left = new ArrayList<>();
      for (int t : missing) {
        Sphere group = group(t, found, strict);
        if (group == null) {
          left.add(t);
        } else {
          found[t] = group;
        }
      }
      if (left.size() == missing.size()) {
        if (!strict) {
          throw new IllegalArgumentException("the mesh has flat cells without neighbours");
        }
        strict = false;
      }
      missing = left;
    }
    Sphere[] spheres = new Sphere[found.length];
    for (int t = 0; t < spheres.length; t++) {
      spheres[t] = Objects.requireNonNull(found[t]);
    }
    return spheres;
  }

  private @Nullable Sphere group(int t, @Nullable Sphere[] found, boolean strict) {
    List<Sphere> known = new ArrayList<>();
    for (int k = 1; k < CORNERS; k++) {
      Sphere sphere = neighbours[t][k] == OUTSIDE ? null : found[neighbours[t][k]];
      if (sphere != null) {
        if (!strict || known.stream().anyMatch(sphere::sameAs)) {
          return sphere;
        }
        known.add(sphere);
      }
    }
    return null;
  }

  /** Index of the cell that holds {@code x}, with its weights written; -1 if none does. */
  int locate(double[] x, double[] weights) {
    int cell = walk(x);
    for (int hop = 0; hop <= corners.length / 4; hop++) {
      if (flat[cell]) {
        return scan(x, weights);
      }
      barycentric(cell, x, weights);
      int beyond = -1;
      for (int k = 0; k < CORNERS && beyond < 0; k++) {
        beyond = weights[k] < -EPSILON ? k : -1;
      }
      if (beyond < 0) {
        return cell;
      }
      if (neighbours[cell][beyond] == OUTSIDE) {
        return OUTSIDE;
      }
      cell = neighbours[cell][beyond];
    }
    return scan(x, weights);
  }

  /** Greedy steps to neighbours whose sphere holds the point more deeply, until one holds it. */
  private int walk(double[] x) {
    int cell = 0;
    double best = spheres[0].distance(x);
    boolean moved = true;
    while (moved && best <= 0) {
      moved = false;
      for (int k = 0; k < CORNERS; k++) {
        int next = neighbours[cell][k];
        if (next == OUTSIDE) {
          continue;
        }
        double distance = spheres[next].distance(x);
        if (distance > best + EPSILON * (1 + Math.abs(best))) {
          cell = next;
          best = distance;
          moved = true;
        }
      }
    }
    return cell;
  }

  /** The first cell in order; for a flat one, a neighbour that nearly holds the point. */
  private int scan(double[] x, double[] weights) {
    for (int t = 0; t < corners.length; t++) {
      if (!flat[t]) {
        barycentric(t, x, weights);
        if (holds(t, OUTSIDE - 1, weights)) {
          return t;
        }
        continue;
      }
      for (int next : neighbours[t]) {
        if (next != OUTSIDE && !flat[next]) {
          barycentric(next, x, weights);
          if (holds(next, t, weights)) {
            return next;
          }
        }
      }
    }
    return OUTSIDE;
  }

  private boolean holds(int cell, int lenientTowards, double[] weights) {
    for (int k = 0; k < CORNERS; k++) {
      double slack = neighbours[cell][k] == lenientTowards ? BROAD_EPSILON : EPSILON;
      if (weights[k] < -slack || weights[k] > 1 + EPSILON) {
        return false;
      }
    }
    return true;
  }

  /** Indices of a cell's points. */
  int[] corners(int cell) {
    return corners[cell];
  }

  private double volume(int t) {
    double[] o = points[corners[t][3]];
    return determinant(
        minus(points[corners[t][0]], o),
        minus(points[corners[t][1]], o),
        minus(points[corners[t][2]], o));
  }

  /** Cramer's rule. */
  private void barycentric(int t, double[] x, double[] weights) {
    double[] o = points[corners[t][3]];
    double[] a = minus(points[corners[t][0]], o);
    double[] b = minus(points[corners[t][1]], o);
    double[] c = minus(points[corners[t][2]], o);
    double[] p = minus(x, o);
    double volume = determinant(a, b, c);
    weights[0] = determinant(p, b, c) / volume;
    weights[1] = determinant(a, p, c) / volume;
    weights[2] = determinant(a, b, p) / volume;
    weights[3] = 1 - weights[0] - weights[1] - weights[2];
  }

  private static double dot(double[] a, double[] b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
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
