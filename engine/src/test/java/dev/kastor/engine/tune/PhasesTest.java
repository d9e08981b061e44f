package dev.kastor.engine.tune;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.train.Tuner;
import org.junit.jupiter.api.Test;

/** Factors of schedules that were reckoned by hand. */
class PhasesTest {
  /** The factor of the step that follows after so many steps at the initial batch. */
  private static void assertFactor(String schedule, double total, double done, double factor) {
    Tuner tuner = Job.tuner("phases" + schedule);
    if (done > 0) {
      tuner.applied(new Job(total).step(1, 1, done));
    }
    assertThat(tuner.factor()).as("%s after %s", schedule, done).isCloseTo(factor, within(1e-12));
  }

  @Test
  void aLinearWarmUpIsFollowedByAConstantRateAndALinearDecay() {
    String schedule = ":warmUp=4:decay=linear:decayFrom=0.5:floor=0.2";
    double[] factors = {
      0.25, 0.5, 0.75, 1, 1, 1, 1, 1, 1, 1, 1, 0.92, 0.84, 0.76, 0.68, 0.6, 0.52, 0.44, 0.36, 0.28,
      0.2
    };
    for (int done = 0; done < factors.length; done++) {
      assertFactor(schedule, 20, done, factors[done]);
    }
    assertFactor(schedule, 20, 0.5, 0.375);
    assertFactor(schedule, 20, 3.5, 1);
    assertFactor(schedule, 20, 21, 0.2);
  }

  @Test
  void aCosineDecayHasItsMiddleInTheMiddle() {
    String schedule = ":floor=0.1";
    assertFactor(schedule, 12, 0, 1);
    assertFactor(schedule, 12, 3, 1 - 0.9 * (1 - Math.sqrt(0.5)) / 2);
    assertFactor(schedule, 12, 4, 0.775);
    assertFactor(schedule, 12, 6, 0.55);
    assertFactor(schedule, 12, 8, 0.325);
    assertFactor(schedule, 12, 12, 0.1);
    // It begins where the warm-up ends.
    assertFactor(":floor=0.1:warmUp=12", 24, 18, 0.55);
  }

  @Test
  void withoutADecayTheFactorStays() {
    for (double done : new double[] {3, 100, 1000}) {
      assertFactor(":decay=none:warmUp=3", 1000, done, 1);
      assertFactor(":floor=1", 1000, done, 1);
    }
  }

  @Test
  void aWarmUpThatIsLongerThanTheWorkIsCutOff() {
    assertFactor(":warmUp=40", 20, 10, 11.0 / 40);
    assertFactor(":warmUp=40", 20, 20, 21.0 / 40);
    assertFactor(":warmUp=20", 20, 20, 1);
    assertFactor(":warmUp=20", 20, 21, 0.01);
  }

  @Test
  void optionsAreChecked() {
    assertThatThrownBy(() -> Job.tuner("phases:floor=0"))
        .hasMessageContaining("tuner phases: floor must be a number above 0 and at most 1");
    assertThatThrownBy(() -> Job.tuner("phases:decay=step"))
        .hasMessageContaining("decay must be one of none, linear, cosine but is 'step'");
  }
}
