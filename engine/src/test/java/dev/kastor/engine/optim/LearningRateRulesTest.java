package dev.kastor.engine.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.train.LearningRateRule;
import dev.kastor.protocol.GradientStats;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LearningRateRulesTest {
  private static final Optional<GradientStats> NOISY = Optional.of(new GradientStats(1, 8, 32));

  static List<String> names() {
    return LearningRateRules.BUILT_IN.names();
  }

  @ParameterizedTest
  @MethodSource("names")
  void leavesTheRateAloneAtTheInitialBatch(String name) {
    LearningRateRule rule = LearningRateRules.BUILT_IN.get(name);

    assertThat(rule.factor(1, NOISY)).isCloseTo(1, within(1e-12));
    assertThat(rule.factor(1, Optional.empty())).isCloseTo(1, within(1e-12));
  }

  @ParameterizedTest
  @MethodSource("names")
  void neverExceedsTheScale(String name) {
    LearningRateRule rule = LearningRateRules.BUILT_IN.get(name);
    double before = 1;
    for (double scale = 1; scale <= 64; scale *= 2) {
      double factor = rule.factor(scale, NOISY);
      assertThat(factor).isBetween(before, scale);
      before = factor;
    }
  }

  @Test
  void adaScaleIsTheGain() {
    // r = (8 + 1) / (8 / 4 + 1)
    assertThat(new AdaScale().factor(4, NOISY)).isCloseTo(3, within(1e-12));
    assertThat(new AdaScale().factor(4, Optional.empty())).isEqualTo(1);
  }

  @Test
  void followsTheFixedRules() {
    assertThat(new SquareRoot().factor(4, NOISY)).isEqualTo(2);
    assertThat(new Linear().factor(4, NOISY)).isEqualTo(4);
    assertThat(new None().factor(4, NOISY)).isEqualTo(1);
  }

  @Test
  void listsTheValidNames() {
    assertThatThrownBy(() -> LearningRateRules.BUILT_IN.get("Sqrt"))
        .hasMessageContaining("'Sqrt'")
        .hasMessageContaining("AdaScale, SquareRoot, Linear, None");
  }
}
