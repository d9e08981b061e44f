package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Primitive.Binary;
import dev.kastor.engine.graph.Primitive.Unary;

/** Loops over the front of heap arrays, simple enough for the JIT compiler to vectorise. */
final class Loops {
  /** Beyond these the exponential of a float is 0 or infinite, or nearly. */
  private static final float LEAST = -87.3f;

  private static final float MOST = 88.3f;

  /** Beyond this tanh is 1 to the last place. */
  private static final float SATURATED = 10;

  private static final float HUGE = 0x1p126f;

  private Loops() {}

  static void unary(Unary.Kind kind, float[] x, float[] out, int n) {
    switch (kind) {
      case NEGATE -> negate(x, out, n);
      case EXP -> exp(x, out, n);
      case LOG -> log(x, out, n);
      case SQRT -> sqrt(x, out, n);
      case RECIPROCAL_ROOT -> reciprocalRoot(x, out, n);
      case TANH -> tanh(x, out, n);
      case SIGMOID -> sigmoid(x, out, n);
      case RELU -> relu(x, out, n);
    }
  }

  static void binary(Binary.Kind kind, float[] a, float[] b, float[] out, int n) {
    switch (kind) {
      case ADD -> add(a, b, out, n);
      case SUBTRACT -> subtract(a, b, out, n);
      case MULTIPLY -> multiply(a, b, out, n);
      case DIVIDE -> divide(a, b, out, n);
      case MAXIMUM -> maximum(a, b, out, n);
      case GREATER -> greater(a, b, out, n);
    }
  }

  static void select(float[] condition, float[] yes, float[] no, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = condition[i] != 0 ? yes[i] : no[i];
    }
  }

  /** {@code a} times whether {@code x} is greater than 0. */
  static void gate(float[] x, float[] a, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = Math.min(Math.max(x[i] * HUGE, 0) * HUGE, 1) * a[i];
    }
  }

  private static void negate(float[] x, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = -x[i];
    }
  }

  static void exp(float[] x, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = (float) power(Math.min(Math.max(x[i], LEAST), MOST));
    }
  }

  private static void log(float[] x, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = (float) Math.log(x[i]);
    }
  }

  private static void sqrt(float[] x, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = (float) Math.sqrt(x[i]);
    }
  }

  private static void reciprocalRoot(float[] x, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = 1 / (float) Math.sqrt(x[i]);
    }
  }

  private static void tanh(float[] x, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      double q = raise(2 * Math.min(Math.max(x[i], -SATURATED), SATURATED));
      out[i] = (float) (q / (q + 2));
    }
  }

  private static void sigmoid(float[] x, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = (float) (1 / (1 + power(Math.min(Math.max(-x[i], LEAST), MOST))));
    }
  }

  private static void relu(float[] x, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = Math.max(x[i], 0);
    }
  }

  static void add(float[] a, float[] b, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = a[i] + b[i];
    }
  }

  static void subtract(float[] a, float[] b, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = a[i] - b[i];
    }
  }

  static void multiply(float[] a, float[] b, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = a[i] * b[i];
    }
  }

  private static void divide(float[] a, float[] b, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = a[i] / b[i];
    }
  }

  private static void maximum(float[] a, float[] b, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = Math.max(a[i], b[i]);
    }
  }

  private static void greater(float[] a, float[] b, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = exceeds(a[i], b[i]);
    }
  }

  /**
   * 1 if a is greater than b, else 0: by arithmetic, as a choice between two constants would not
   * become a vector instruction. Neither may be NaN.
   */
  static float exceeds(float a, float b) {
    // Twice, so that the least positive number becomes more than 1.
    return Math.min(Math.max((finite(a) - finite(b)) * HUGE, 0) * HUGE, 1);
  }

  private static float finite(float x) {
    return Math.min(Math.max(x, -Float.MAX_VALUE), Float.MAX_VALUE);
  }

  /**
   * e^x to the last place of a float, for x within 100 of 0: that of x / 1024, squared ten times in
   * double precision.
   *
   * <p>Without a table, a branch or a look at bits, so that loops over it become vector
   * instructions; the same bits on every machine.
   */
  private static double power(double x) {
    double p = 1 + small(x * (1.0 / 1024));
    p *= p;
    p *= p;
    p *= p;
    p *= p;
    p *= p;
    p *= p;
    p *= p;
    p *= p;
    p *= p;
    return p * p;
  }

  /** e^x - 1, for which nothing is lost near 0: (1 + q)^2 - 1 = q (q + 2). */
  private static double raise(double x) {
    double q = small(x * (1.0 / 1024));
    q = q * (q + 2);
    q = q * (q + 2);
    q = q * (q + 2);
    q = q * (q + 2);
    q = q * (q + 2);
    q = q * (q + 2);
    q = q * (q + 2);
    q = q * (q + 2);
    q = q * (q + 2);
    return q * (q + 2);
  }

  /** The Taylor series of e^r - 1, to 1e-14 of it for r within 0.1 of 0. */
  private static double small(double r) {
    double q = 1.0 / 40320;
    q = q * r + 1.0 / 5040;
    q = q * r + 1.0 / 720;
    q = q * r + 1.0 / 120;
    q = q * r + 1.0 / 24;
    q = q * r + 1.0 / 6;
    q = q * r + 0.5;
    q = q * r + 1;
    return q * r;
  }

  /** The sum of {@code x[from, to)}, in four strands. */
  static float sum(float[] x, int from, int to) {
    float a = 0;
    float b = 0;
    float c = 0;
    float d = 0;
    int i = from;
    for (; i + 4 <= to; i += 4) {
      a += x[i];
      b += x[i + 1];
      c += x[i + 2];
      d += x[i + 3];
    }
    for (; i < to; i++) {
      a += x[i];
    }
    return a + b + (c + d);
  }

  /** The sum of products over {@code [from, to)}. */
  static float dot(float[] x, float[] y, int from, int to) {
    float a = 0;
    float b = 0;
    float c = 0;
    float d = 0;
    int i = from;
    for (; i + 4 <= to; i += 4) {
      a += x[i] * y[i];
      b += x[i + 1] * y[i + 1];
      c += x[i + 2] * y[i + 2];
      d += x[i + 3] * y[i + 3];
    }
    for (; i < to; i++) {
      a += x[i] * y[i];
    }
    return a + b + (c + d);
  }

  static float maximum(float[] x, int from, int to) {
    float top = x[from];
    for (int i = from + 1; i < to; i++) {
      top = Math.max(top, x[i]);
    }
    return top;
  }
}
