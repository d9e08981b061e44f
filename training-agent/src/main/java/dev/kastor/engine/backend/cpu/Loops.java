package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Primitive.Binary;
import dev.kastor.engine.graph.Primitive.Unary;

/** Loops over the front of heap arrays, simple enough for the JIT compiler to vectorise. */
final class Loops {
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

  private static void negate(float[] x, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = -x[i];
    }
  }

  private static void exp(float[] x, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = exp(x[i]);
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
      out[i] = (float) Math.tanh(x[i]);
    }
  }

  private static void sigmoid(float[] x, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = 1 / (1 + exp(-x[i]));
    }
  }

  private static void relu(float[] x, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = Math.max(x[i], 0);
    }
  }

  private static void add(float[] a, float[] b, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = a[i] + b[i];
    }
  }

  private static void subtract(float[] a, float[] b, float[] out, int n) {
    for (int i = 0; i < n; i++) {
      out[i] = a[i] - b[i];
    }
  }

  private static void multiply(float[] a, float[] b, float[] out, int n) {
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
      out[i] = a[i] > b[i] ? 1f : 0f;
    }
  }

  /**
   * The exponential to about one unit in the last place: x = n ln 2 + r, a polynomial in r with the
   * coefficients of Cephes' {@code expf} (S. L. Moshier), and n into the exponent. Several times
   * faster than {@link Math#exp}, and the same bits on every machine.
   */
  static float exp(float x) {
    float bounded = Math.min(Math.max(x, -87.3f), 88.3f);
    // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer.
    float n = bounded * 1.442695f + 12582912f - 12582912f;
    float r = bounded - n * 0.6933594f + n * 2.1219444e-4f;
    float p = 1.9875691e-4f;
    p = p * r + 1.3981999e-3f;
    p = p * r + 8.333452e-3f;
    p = p * r + 4.1665796e-2f;
    p = p * r + 0.16666666f;
    p = p * r + 0.5f;
    return (p * r * r + r + 1) * Float.intBitsToFloat(((int) n + 127) << 23);
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
