package dev.kastor.engine.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GradientProbeTest {
  private static float[] numbers(int length) {
    SplittableRandom random = new SplittableRandom(length);
    float[] vector = new float[length];
    for (int i = 0; i < length; i++) {
      // Layers differ in size: what is at the front is larger.
      vector[i] = (float) random.nextGaussian() * (i < length / 4 ? 5 : 1);
    }
    return vector;
  }

  private static double squaredNorm(float[] vector) {
    double sum = 0;
    for (float value : vector) {
      sum += (double) value * value;
    }
    return sum;
  }

  private static float[] read(GradientProbe probe, float[] vector) {
    float[] values = new float[probe.size()];
    probe.read(vector, 0, vector.length, values);
    return values;
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "1, 1", "64, 64", "65, 64", "16384, 64", "16640, 65", "70001, 273"})
  void drawsOneOf256ButAtLeast64(int length, int draws) {
    assertThat(GradientProbe.of(length, 3, 7, 1).size()).isEqualTo(draws);
    int most = Math.min(length, 8 * draws);
    assertThat(GradientProbe.of(length, 3, 7, 8).size()).as("of eight steps").isEqualTo(most);
    assertThat(GradientProbe.of(length, 3, 7, 1000).size()).isEqualTo(length);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 37, 64})
  void ofAShortVectorItSeesAll(int length) {
    float[] vector = numbers(length);
    for (int step = 0; step < 50; step++) {
      assertThat(read(GradientProbe.of(length, 3, step, 1), vector)).isEqualTo(vector);
    }
  }

  @Test
  void allReplicasDrawTheSameAndEachStepDiffers() {
    float[] vector = numbers(5000);
    float[] values = read(GradientProbe.of(5000, 3, 7, 1), vector);
    assertThat(read(GradientProbe.of(5000, 3, 7, 1), vector)).isEqualTo(values);
    assertThat(read(GradientProbe.of(5000, 3, 8, 1), vector)).isNotEqualTo(values);
    assertThat(read(GradientProbe.of(5000, 4, 7, 1), vector)).isNotEqualTo(values);
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 1000, 70_001})
  void theMeanOfItsEstimatesIsTheSquaredNorm(int length) {
    float[] vector = numbers(length);
    int steps = 4000;
    double sum = 0;
    for (int step = 0; step < steps; step++) {
      GradientProbe probe = GradientProbe.of(length, 11, step, 1);
      sum += probe.squaredNorm(read(probe, vector));
    }
    double norm = squaredNorm(vector);
    assertThat(sum / steps).isCloseTo(norm, within(0.02 * norm));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 100, 1000, 70_001})
  void piecesAreTheWhole(int length) {
    SplittableRandom random = new SplittableRandom(length);
    float[] vector = numbers(length);
    for (int step = 0; step < 50; step++) {
      GradientProbe probe = GradientProbe.of(length, 2, step, 1);
      float[] values = new float[probe.size()];
      Arrays.fill(values, Float.NaN);
      double sum = 0;
      int to = length;
      while (to > 0) {
        int from = Math.max(0, to - random.nextInt(1, length / 10 + 2));
        probe.read(vector, from, to, values);
        sum += probe.squaredNorm(vector, from, to);
        to = from;
      }
      assertThat(values).isEqualTo(read(probe, vector));
      assertThat(sum).isCloseTo(probe.squaredNorm(values), within(1e-9 * sum));
    }
  }
}
