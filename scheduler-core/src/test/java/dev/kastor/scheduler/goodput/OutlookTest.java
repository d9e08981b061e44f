package dev.kastor.scheduler.goodput;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.Progress;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Length of a job, by what it declares and what its family went through. */
final class OutlookTest {
  private static final Outlook FAMILY =
      new Outlook(Optional.empty(), List.of(400.0, 100.0, 300.0, 200.0), 1);

  private static Progress done(double steps, double declared) {
    return new Progress(1, steps, declared, 1, 0);
  }

  @Test
  void whatIsDeclaredCounts() {
    assertThat(FAMILY.totalSteps(done(50, 70))).isEqualTo(70);
    assertThat(FAMILY.fraction(done(35, 70))).isEqualTo(0.5);
    assertThat(FAMILY.fraction(done(80, 70))).isEqualTo(1);
    assertThat(Outlook.NONE.knowsTotal(done(0, 70))).isTrue();
  }

  @Test
  void elseTheMedianOfThoseThatWentOnLonger() {
    assertThat(FAMILY.totalSteps(done(0, 0))).as("the upper one of two").isEqualTo(300);
    assertThat(FAMILY.totalSteps(done(100, 0))).as("of 200, 300 and 400").isEqualTo(300);
    assertThat(FAMILY.totalSteps(done(300, 0))).isEqualTo(400);
    assertThat(FAMILY.fraction(done(100, 0))).isEqualTo(1.0 / 3);
    assertThat(FAMILY.knowsTotal(done(399, 0))).isTrue();
  }

  @Test
  void elseTwiceWhatIsDone() {
    assertThat(FAMILY.totalSteps(done(400, 0))).isEqualTo(800);
    assertThat(FAMILY.fraction(done(400, 0))).isEqualTo(0.5);
    assertThat(FAMILY.knowsTotal(done(400, 0))).isFalse();
    assertThat(Outlook.NONE.knowsTotal(Progress.NONE)).isFalse();
    assertThat(Outlook.NONE.fraction(Progress.NONE)).isZero();
  }
}
