package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class EvaluationPaceTest {
  private static final double STEP = 0.125;

  private final EvaluationPace pace = new EvaluationPace(Duration.ofSeconds(10));

  private void train(double seconds) {
    for (double done = 0; done < seconds; done += STEP) {
      pace.stepped(STEP);
    }
  }

  @Test
  void waitsForTheLeastTimeAndForWhatTheFirstMayTake() {
    train(9);
    assertThat(pace.due(0.01)).isFalse();
    train(1);
    assertThat(pace.due(0.2)).isTrue();
    assertThat(pace.due(0.21)).isFalse();
    pace.evaluated(0.2);
    assertThat(pace.due(0.01)).as("just done").isFalse();
    train(10);
    assertThat(pace.due(0.01)).as("it took 0.2 s, whatever was estimated").isTrue();
  }

  @Test
  void makesUpForOneThatTookLonger() {
    train(10);
    pace.evaluated(2);
    train(180);
    assertThat(pace.due(0.01)).isFalse();
    train(10);
    assertThat(pace.due(0.01)).isTrue();
  }

  @Test
  void takesNoMoreThanItsShare() {
    SplittableRandom random = new SplittableRandom(3);
    double trained = 0;
    double spent = 0;
    int count = 0;
    for (int i = 0; i < 400_000; i++) {
      pace.stepped(STEP);
      trained += STEP;
      if (pace.due(1)) {
        double seconds = 0.5 + random.nextDouble();
        pace.evaluated(seconds);
        spent += seconds;
        count++;
        // One second more than was expected, at most, and only until the next.
        assertThat(spent - 1).isLessThanOrEqualTo(trained / 50);
      }
    }
    assertThat(spent).isBetween(0.9 * trained / 50, trained / 50 + 1);
    assertThat(count).isGreaterThan(500);
  }
}
