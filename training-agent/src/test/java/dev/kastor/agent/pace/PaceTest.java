package dev.kastor.agent.pace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PaceTest {
  @Test
  void aPassTakesItsOwnTimeAndThatOfItsExamples() {
    Pace pace = Pace.parse(" 0.008  0.0026 ");
    assertThat(pace).isEqualTo(new Pace(0.008, 0.0026)).isEqualTo(Pace.parse(pace.toString()));
    assertThat(pace.nanos(10)).isEqualTo(34_000_000);
    assertThat(Pace.parse("0 0").nanos(10)).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "0.008", "1 2 3", "a 1", "-0.1 1", "NaN 1", "1 Infinity", "1800 1800"})
  void whatIsNoPaceIsRefused(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Pace.parse(text))
        .withMessageContaining("two numbers of seconds");
  }
}
