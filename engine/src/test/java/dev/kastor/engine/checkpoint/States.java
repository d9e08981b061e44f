package dev.kastor.engine.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.train.TrainingState;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Training states for tests. */
final class States {
  private States() {}

  /** A state with random content, NaN and negative zero included. */
  static TrainingState random(long step, int parameters) {
    SplittableRandom random = new SplittableRandom(step);
    float[] values = new float[parameters];
    for (int i = 0; i < parameters; i++) {
      values[i] = (float) random.nextGaussian();
    }
    if (parameters > 2) {
      values[0] = Float.NaN;
      values[1] = -0f;
    }
    float[] optimizer = new float[2 * parameters];
    for (int i = 0; i < optimizer.length; i++) {
      optimizer[i] = (float) random.nextGaussian();
    }
    return new TrainingState(
        step,
        step * 1.25,
        step * 64,
        step * 64,
        random.nextLong(),
        values,
        optimizer,
        new float[] {1, 2, 3},
        new double[] {Math.PI, Double.MIN_VALUE});
  }

  /** Checks that two states agree in every bit. */
  static void assertIdentical(TrainingState actual, TrainingState expected) {
    assertThat(actual.step()).isEqualTo(expected.step());
    assertThat(Double.compare(actual.scaleInvariantSteps(), expected.scaleInvariantSteps()))
        .isZero();
    assertThat(actual.cursor()).isEqualTo(expected.cursor());
    assertThat(actual.auditCount()).isEqualTo(expected.auditCount());
    assertThat(actual.auditDigest()).isEqualTo(expected.auditDigest());
    assertThat(Arrays.equals(actual.parameters(), expected.parameters())).isTrue();
    assertThat(Arrays.equals(actual.optimizerState(), expected.optimizerState())).isTrue();
    assertThat(Arrays.equals(actual.statistics(), expected.statistics())).isTrue();
    assertThat(Arrays.equals(actual.noiseState(), expected.noiseState())).isTrue();
  }
}
