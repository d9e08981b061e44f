package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.op.Softmax;
import dev.kastor.engine.tensor.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.function.Supplier;

/** Kernels that work on one row, the last axis, at a time. */
final class Rows {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  /** Elements that are worth a vectorised loop. */
  private static final int BLOCK = 1024;

  private Rows() {}

  private interface Row {
    void run(int row);
  }

  private static Kernel each(Team team, Shape shape, Supplier<Row> body) {
    int rows = shape.elements() / shape.extent(-1);
    return team.loop(
        rows,
        shape.elements(),
        () -> {
          Row each = body.get();
          return (from, to) -> {
            for (int row = from; row < to; row++) {
              each.run(row);
            }
          };
        });
  }

  private static void load(Place from, int row, float[] to) {
    MemorySegment.copy(from.segment(), FLOAT, 4L * row * to.length, to, 0, to.length);
  }

  private static void store(float[] from, Place to, int row) {
    MemorySegment.copy(from, 0, to.segment(), FLOAT, 4L * row * from.length, from.length);
  }

  /** Rows are often short, so that a few hundred elements at once are given to the exponential. */
  static Kernel softmax(Team team, Softmax op, Shape shape, Place scores, Place out) {
    int n = shape.extent(-1);
    int most = Math.max(1, BLOCK / n);
    return team.loop(
        shape.elements() / n,
        shape.elements(),
        () -> {
          float[] x = new float[most * n];
          return (from, to) -> {
            for (int row = from; row < to; row += most) {
              int rows = Math.min(most, to - row);
              MemorySegment.copy(scores.segment(), FLOAT, 4L * row * n, x, 0, rows * n);
              softmax(x, row, rows, n, op.causal());
              MemorySegment.copy(x, 0, out.segment(), FLOAT, 4L * row * n, rows * n);
            }
          };
        });
  }

  /**
   * Replaces rows by their softmax.
   *
   * @param first number of the first row
   */
  private static void softmax(float[] x, int first, int rows, int n, boolean causal) {
    for (int r = 0; r < rows; r++) {
      int from = r * n;
      int seen = from + seen(first + r, n, causal);
      shift(x, from, seen, -Loops.maximum(x, from, seen));
      Arrays.fill(x, seen, from + n, 0);
    }
    Loops.exp(x, x, rows * n);
    for (int r = 0; r < rows; r++) {
      int from = r * n;
      int seen = from + seen(first + r, n, causal);
      scale(x, from, seen, 1 / Loops.sum(x, from, seen));
      Arrays.fill(x, seen, from + n, 0);
    }
  }

  /** How many elements of a row count. */
  private static int seen(int row, int n, boolean causal) {
    return causal ? row % n + 1 : n;
  }

  private static void shift(float[] x, int from, int to, float by) {
    for (int i = from; i < to; i++) {
      x[i] += by;
    }
  }

  private static void scale(float[] x, int from, int to, float factor) {
    for (int i = from; i < to; i++) {
      x[i] *= factor;
    }
  }

  /** Replaces x by exp(x - max x) and returns the maximum. */
  private static float exponentials(float[] x, int n) {
    float top = Loops.maximum(x, 0, n);
    shift(x, 0, n, -top);
    Loops.exp(x, x, n);
    return top;
  }

  static Kernel softmaxGradient(Team team, Shape shape, Place softmax, Place gradient, Place out) {
    int n = shape.extent(-1);
    return each(
        team,
        shape,
        () -> {
          float[] y = new float[n];
          float[] g = new float[n];
          return row -> {
            load(softmax, row, y);
            load(gradient, row, g);
            float mean = Loops.dot(y, g, 0, n);
            for (int i = 0; i < n; i++) {
              y[i] *= g[i] - mean;
            }
            store(y, out, row);
          };
        });
  }

  static Kernel crossEntropy(Team team, Shape shape, Place logits, Place targets, Place out) {
    int n = shape.extent(-1);
    return each(
        team,
        shape,
        () -> {
          float[] x = new float[n];
          return row -> {
            load(logits, row, x);
            float target = x[Movement.row(targets.segment(), row, n)];
            float top = exponentials(x, n);
            double loss = Math.log(Loops.sum(x, 0, n)) + top - target;
            out.segment().setAtIndex(FLOAT, row, (float) loss);
          };
        });
  }

  static Kernel crossEntropyGradient(
      Team team, Shape shape, Place logits, Place targets, Place gradient, Place out) {
    int n = shape.extent(-1);
    return each(
        team,
        shape,
        () -> {
          float[] x = new float[n];
          return row -> {
            load(logits, row, x);
            float g = gradient.segment().getAtIndex(FLOAT, row);
            exponentials(x, n);
            scale(x, 0, n, g / Loops.sum(x, 0, n));
            x[Movement.row(targets.segment(), row, n)] -= g;
            store(x, out, row);
          };
        });
  }

  static Kernel normalize(Team team, float epsilon, Shape shape, Place in, Place out) {
    return each(
        team,
        shape,
        () -> {
          float[] x = new float[shape.extent(-1)];
          return row -> {
            load(in, row, x);
            float scale = centre(x, epsilon);
            scale(x, 0, x.length, scale);
            store(x, out, row);
          };
        });
  }

  /** Subtracts the mean of x and returns the reciprocal of its deviation. */
  private static float centre(float[] x, float epsilon) {
    float mean = Loops.sum(x, 0, x.length) / x.length;
    for (int i = 0; i < x.length; i++) {
      x[i] -= mean;
    }
    return 1 / (float) Math.sqrt(Loops.dot(x, x, 0, x.length) / x.length + epsilon);
  }

  static Kernel normalizeGradient(
      Team team, float epsilon, Shape shape, Place in, Place normal, Place gradient, Place out) {
    int n = shape.extent(-1);
    return each(
        team,
        shape,
        () -> {
          float[] x = new float[n];
          float[] y = new float[n];
          float[] g = new float[n];
          return row -> {
            load(in, row, x);
            load(normal, row, y);
            load(gradient, row, g);
            float scale = centre(x, epsilon);
            float mean = Loops.sum(g, 0, n) / n;
            float slope = Loops.dot(g, y, 0, n) / n;
            for (int i = 0; i < n; i++) {
              g[i] = (g[i] - mean - y[i] * slope) * scale;
            }
            store(g, out, row);
          };
        });
  }
}
