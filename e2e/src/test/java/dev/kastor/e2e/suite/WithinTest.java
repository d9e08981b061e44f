package dev.kastor.e2e.suite;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WithinTest {
  @Test
  void theFirstScenarioAlwaysBeginsAndOthersInTime() {
    assertThat(Within.may(10_000, 0, false).isDisabled()).isFalse();
    assertThat(Within.may(60, 1, true).isDisabled()).isFalse();
    assertThat(Within.may(61, 1, true).isDisabled()).isTrue();
    assertThat(Within.may(61, 1, true).getReason()).get().asString().contains("1 minutes are over");
  }

  @Test
  void itsReasonIsToldFromOthers() {
    assertThat(Within.isCut(Within.may(61, 1, true).getReason().orElseThrow())).isTrue();
    assertThat(Within.isCut("step failed: it installs")).isFalse();
  }
}
