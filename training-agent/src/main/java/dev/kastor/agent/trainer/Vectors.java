package dev.kastor.agent.trainer;

/** Arithmetic on the vectors of a step, by plain loops in the order of their elements. */
final class Vectors {
  private Vectors() {}

  static double squaredNorm(float[] vector) {
    return squaredNorm(vector, 0, vector.length);
  }

  static double squaredNorm(float[] vector, int from, int to) {
    double sum = 0;
    for (int i = from; i < to; i++) {
      sum += (double) vector[i] * vector[i];
    }
    return sum;
  }

  static boolean isFinite(float[] vector) {
    return Double.isFinite(squaredNorm(vector));
  }

  static void add(float[] source, float[] target, int from, int to) {
    for (int i = from; i < to; i++) {
      target[i] += source[i];
    }
  }

  static void scale(float[] vector, float factor) {
    scale(vector, factor, 0, vector.length);
  }

  static void scale(float[] vector, float factor, int from, int to) {
    for (int i = from; i < to; i++) {
      vector[i] *= factor;
    }
  }
}
