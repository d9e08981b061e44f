package dev.kastor.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class HousekeepingTest {
  @ParameterizedTest
  @CsvSource({"0, 500", "40, 500", "250, 500", "400, 800", "750, 1500", "5000, 1500"})
  void restsLongerAfterLongPasses(long pass, long pause) {
    assertThat(Housekeeping.pauseAfter(Duration.ofMillis(pass)))
        .isEqualTo(Duration.ofMillis(pause));
  }
}
