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

  static Kernel softmax(Team team, Softmax op, Shape shape, Place scores, Place out) {
    int n = shape.extent(-1);
    return each(
        team,
        shape,
        () -> {
          float[] x = new float[n];
          return row -> {
            load(scores, row, x);
            int seen = op.causal() ? row % n + 1 : n;
            exponentials(x, seen);
            scale(x, 1 / Loops.sum(x, 0, seen), seen);
            Arrays.fill(x, seen, n, 0);
            store(x, out, row);
          };
        });
  }

  /** Replaces x by exp(x - max x) and returns the maximum. */
  private static float exponentials(float[] x, int n) {
    float top = Loops.maximum(x, 0, n);
    for (int i = 0; i < n; i++) {
      x[i] -= top;
    }
    Loops.exp(x, x, n);
    return top;
  }

  private static void scale(float[] x, float factor, int n) {
    for (int i = 0; i < n; i++) {
      x[i] *= factor;
    }
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
            scale(x, g / Loops.sum(x, 0, n), n);
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
            scale(x, scale, x.length);
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
