package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.GradientStats;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class GradientNoiseTest {
  private static final int INITIAL = 10;

  private final GradientNoise noise = new GradientNoise(INITIAL);

  private void observe(int groups, double squaredNorms, double squaredNorm, int globalBatch) {
    noise.observe(
        _ -> {
          throw new AssertionError("it has %d groups".formatted(groups));
        },
        groups,
        squaredNorms,
        squaredNorm,
        globalBatch);
  }

  @Test
  void untilTheNoiseIsKnownALargerBatchBringsNoMoreThanTheInitialOne() {
    assertThat(noise.stats()).isEmpty();
    assertThat(noise.gain(5)).isEqualTo(0.5);
    assertThat(noise.gain(INITIAL)).isEqualTo(1);
    assertThat(noise.gain(40)).isEqualTo(1);
    assertThat(noise.batchScale(5)).isEqualTo(0.5);
    assertThat(noise.batchScale(40)).isEqualTo(4);
  }

  /**
   * Four groups of a batch of 20, the mean of whose squared norms is 28 / 4 = 7: {@code |G|^2 = (4
   * * 4 - 7) / 3 = 3} and {@code V/M0 = (7 - 4) / 3 * 20 / 10 = 2}. The gain of a batch of 40 is
   * {@code (2 + 3) / (2 / 4 + 3)}.
   */
  @Test
  void theNormsOfGroupsAreDividedByTheirNumber() {
    for (int step = 0; step < 10; step++) {
      observe(4, 28, 4, 20);
    }
    GradientStats stats = noise.stats().orElseThrow();
    assertThat(stats.squaredNorm()).isCloseTo(3, within(1e-9));
    assertThat(stats.variance()).isCloseTo(2, within(1e-9));
    assertThat(stats.initialBatch()).isEqualTo(INITIAL);
    assertThat(noise.gain(40)).isCloseTo(5 / 3.5, within(1e-9));
    assertThat(noise.gain(INITIAL)).isCloseTo(1, within(1e-9));
    assertThat(noise.gain(5)).as("below the initial batch").isCloseTo(5.0 / 7, within(1e-9));
  }

  /** One group has no others to be compared with: successive gradients (1, 2) and (3, 2). */
  @Test
  void aStepOfOneGroupIsObservedByItsGradient() {
    float[][] gradients = {{1, 2}, {3, 2}};
    for (int step = 0; step <= 10; step++) {
      float[] gradient = gradients[step % 2];
      noise.observe(estimator -> estimator.observeSingle(gradient, 20), 1, Double.NaN, 0, 20);
    }
    // The product is 7, the squared distance 4, and 10 (1/20 + 1/20) = 1.
    GradientStats stats = noise.stats().orElseThrow();
    assertThat(stats.squaredNorm()).isCloseTo(7, within(1e-9));
    assertThat(stats.variance()).isCloseTo(4, within(1e-9));
  }

  @Test
  void onlyOneGroupIsObservedByItsGradient() {
    AtomicInteger singles = new AtomicInteger();
    for (int groups = 1; groups <= 3; groups++) {
      noise.observe(_ -> singles.incrementAndGet(), groups, 7, 4, 20);
    }
    assertThat(singles).hasValue(1);
    assertThat(noise.state()[3]).as("observations of several groups").isEqualTo(2);
  }

  @Test
  void aStateGoesOnWhereItWasTaken() {
    for (int step = 0; step < 12; step++) {
      observe(2, 10 + step, 3, 20);
    }
    GradientNoise other = new GradientNoise(INITIAL);
    other.restore(noise.state());
    assertThat(other.stats()).isEqualTo(noise.stats()).isPresent();
    assertThat(other.gain(80)).isEqualTo(noise.gain(80));
  }
}
