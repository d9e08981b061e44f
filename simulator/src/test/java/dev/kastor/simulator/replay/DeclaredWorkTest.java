package dev.kastor.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

final class DeclaredWorkTest {
  private static double[] draws(DeclaredWork work, long seed) {
    DeclaredWork.Factors factors = work.factors(seed);
    return DoubleStream.generate(factors::next).limit(10_000).toArray();
  }

  @Test
  void factorsAreUniformAroundTheTruth() {
    double[] factors = draws(DeclaredWork.parse("0.5"), 1);
    assertThat(DoubleStream.of(factors).allMatch(f -> f >= 0.5 && f <= 1.5)).isTrue();
    assertThat(DoubleStream.of(factors).average().orElseThrow()).isCloseTo(1, within(0.02));
    assertThat(DoubleStream.of(factors).filter(f -> f < 0.75).count()).isBetween(2300L, 2700L);
    assertThat(draws(DeclaredWork.parse("0.5"), 1)).isEqualTo(factors);
    assertThat(draws(DeclaredWork.parse("0.5"), 2)).isNotEqualTo(factors);
  }

  @Test
  void exactIsOneAndAbsentIsZero() {
    assertThat(draws(DeclaredWork.parse("exact"), 1)).containsOnly(1);
    assertThat(draws(DeclaredWork.parse("absent"), 1)).containsOnly(0);
    assertThat(draws(DeclaredWork.parse("x1.5"), 1)).containsOnly(1.5);
    for (String text : new String[] {"exact", "absent", "0.5", "x1.5"}) {
      assertThat(DeclaredWork.parse(text)).hasToString(text);
    }
  }

  @Test
  void refusesWhatIsNeither() {
    assertThatThrownBy(() -> DeclaredWork.parse("maybe"))
        .hasMessageContaining("must be exact, absent, an error such as 0.5");
    assertThatThrownBy(() -> DeclaredWork.parse("1")).hasMessageContaining("below 1 but is 1.0");
    assertThatThrownBy(() -> DeclaredWork.parse("x0")).hasMessageContaining("above 0 but is 0.0");
    assertThatThrownBy(() -> DeclaredWork.parse("xyz")).hasMessageContaining("such as x1.5");
    assertThatThrownBy(() -> DeclaredWork.parse("NaN")).hasMessageContaining("below 1 but is NaN");
  }
}
