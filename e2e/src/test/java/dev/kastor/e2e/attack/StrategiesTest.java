package dev.kastor.e2e.attack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class StrategiesTest {
  @Test
  void eachGateTriesOneOfEachKindAndAim() {
    assertThat(Strategies.typical()).hasSize(8);
    assertThat(Strategies.typical()).extracting(Strategy::aim).contains(Strategy.Aim.values());
    assertThat(Strategies.typical()).allMatch(strategy -> strategy.patience().isZero());
    for (List<Strategy> kind :
        List.of(
            PodStrategies.all(),
            JobStrategies.all(),
            ReportStrategies.all(),
            RequestStrategies.all(),
            RightsStrategies.all())) {
      assertThat(Strategies.typical())
          .extracting(Strategy::name)
          .containsAnyElementsOf(kind.stream().map(Strategy::name).toList());
    }
  }

  @Test
  void noneIsLost() {
    assertThat(Strategies.typical().size() + Strategies.others().size())
        .isEqualTo(Strategies.all().size());
  }
}
