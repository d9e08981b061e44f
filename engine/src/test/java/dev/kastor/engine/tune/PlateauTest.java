package dev.kastor.engine.tune;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.train.Tuner;
import org.junit.jupiter.api.Test;

/** Reductions on plateaus that were reckoned by hand. */
class PlateauTest {
  private final Tuner tuner = Job.tuner("plateau:patience=2:threshold=0.1:factor=0.5:least=0.2");
  private final Job job = new Job(1000);

  /** A window of two steps at the initial batch. */
  private void assertFactor(double factor, double... losses) {
    for (double loss : losses) {
      tuner.applied(job.step(loss));
    }
    assertThat(tuner.factor()).isEqualTo(factor);
  }

  @Test
  void aMeanThatIsNotATenthBelowTheLowestLowersTheRate() {
    assertThat(tuner.factor()).isEqualTo(1);
    assertFactor(1, 10, 8); // 9, the first
    assertFactor(0.5, 8, 8.4); // 8.2, not below 8.1
    assertFactor(0.5, 8, 8); // 8, below 8.1: now the lowest
    assertFactor(0.25, 7.4, 7); // 7.2, not below 7.2
    assertFactor(0.25, 1, 7); // 4
    assertFactor(0.2, 4, 4); // bound
    assertFactor(0.2, 4, 4);
    assertFactor(0.2, 1, 1);
  }

  @Test
  void theRateIsLoweredAtTheEndOfAWindowAlone() {
    assertFactor(1, 1, 1, 1);
    assertFactor(0.5, 1);
  }

  @Test
  void lossesBelowZeroFallDownwards() {
    assertFactor(1, -1, -1);
    assertFactor(0.5, -1.05, -1.05);
    assertFactor(0.5, -1.2, -1.2);
  }

  @Test
  void aMeanThatIsNoNumberHasNotFallen() {
    assertFactor(0.5, Double.NaN, 1);
    assertFactor(0.5, 3, 3);
    assertFactor(0.25, Double.POSITIVE_INFINITY, 1);
    assertFactor(0.25, 1, 1);
  }

  @Test
  void eachExampleCountsTheSame() {
    tuner.applied(job.step(6, 1, 0.5));
    tuner.applied(job.step(2, 3, 1.5)); // (1 * 6 + 3 * 2) / 4 = 3
    assertThat(tuner.factor()).isEqualTo(1);
    assertFactor(0.5, 2.75, 2.75); // bound 2.7; the mean over steps would have been 4
  }

  /** A step of a large batch may be worth more than a window. */
  @Test
  void windowsEndAtTheSameProgressWhateverTheirStepsAreWorth() {
    tuner.applied(job.step(1, 4, 3));
    assertThat(tuner.factor()).isEqualTo(1);
    assertFactor(0.5, 1); // 4 steps are done
    tuner.applied(job.step(1, 8, 5)); // 9
    assertThat(tuner.factor()).isEqualTo(0.25);
    assertFactor(0.2, 1);
  }
}
