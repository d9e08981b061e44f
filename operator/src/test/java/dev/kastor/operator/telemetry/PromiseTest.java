package dev.kastor.operator.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.Progress;
import java.time.Duration;
import java.time.Instant;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ends that the numbers of a job promise. */
final class PromiseTest {
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
  private static final int INITIAL = 32;
  private static final double TOTAL = 1000;

  /**
   * The second of training in which a job is found to have broken its promise; 0 if it has not
   * until it ended.
   *
   * @param made examples a second that it makes and says, by the second
   * @param left steps that it says are left beside those that it has made
   */
  private static int brokenAfter(IntToDoubleFunction made, double left) {
    Promise promise = new Promise(INITIAL, NOON);
    double done = 0;
    for (int second = 1; second <= 7200; second++) {
      double speed = made.applyAsDouble(second);
      done += speed / INITIAL;
      if (left == 0 && done >= TOTAL) {
        return 0;
      }
      promise.trained(Duration.ofSeconds(1));
      double total = left == 0 ? TOTAL : done + left;
      promise.observe(new Progress(second, done, total, (long) (done * INITIAL), 0), speed);
      if (promise.broken()) {
        return second;
      }
    }
    return 0;
  }

  @Test
  void aJobOfOneSpeedKeepsItsPromise() {
    assertThat(brokenAfter(_ -> 100, 0)).isZero();
  }

  @Test
  void aJobThatOthersSlowDownKeepsItsPromise() {
    assertThat(brokenAfter(second -> second < 60 ? 200 : 50, 0)).isZero();
    assertThat(brokenAfter(second -> second % 100 < 50 ? 200 : 40, 0)).isZero();
  }

  @Test
  void aJobThatAlwaysSaysThatItEndsSoonBreaksIt() {
    assertThat(brokenAfter(_ -> 100, 30)).isBetween(60, 90);
  }

  @ParameterizedTest
  @ValueSource(ints = {60, 120, 600})
  void aJobThatSaysEverLessSpeedBreaksItSoon(int halfLife) {
    assertThat(brokenAfter(falling(halfLife), 30)).isBetween(60, 300);
  }

  @Test
  void aJobThatPutsItsEndOffForEverSaysThatItGoesOnForLonger() {
    IntToDoubleFunction falling = falling(30);
    assertThat(brokenAfter(falling, 30)).isZero();
    assertThat(30 * INITIAL / falling.applyAsDouble(600)).isGreaterThan(600);
  }

  /** The speed of a job that says half of it after so many seconds, and so on. */
  private static IntToDoubleFunction falling(int halfLife) {
    return second -> 100 * Math.pow(0.5, (double) second / halfLife);
  }
}
