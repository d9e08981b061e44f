package dev.kastor.paper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Verdicts follow from limits alone. */
final class ThresholdTest {
  @ParameterizedTest
  @CsvSource({
    "1.49, PARTLY",
    "1.5, REPRODUCED",
    "1e9, REPRODUCED",
    "1.1, PARTLY",
    "1.09, REFUTED",
    "NaN, REFUTED",
    "-Infinity, REFUTED"
  })
  void theLargerTheBetter(double value, Verdict verdict) {
    Threshold threshold = Threshold.atLeast("speed-up", 1.5, 1.1);
    assertThat(threshold.verdict(value)).isEqualTo(verdict);
    assertThat(threshold.reproduced()).isEqualTo("≥ 1.5");
    assertThat(threshold.refuted()).isEqualTo("< 1.1");
  }

  @ParameterizedTest
  @CsvSource({"9, REPRODUCED", "-5, REPRODUCED", "9.1, PARTLY", "30, PARTLY", "30.1, REFUTED"})
  void theSmallerTheBetter(double value, Verdict verdict) {
    Threshold threshold = Threshold.atMost("overhead, %", 9, 30);
    assertThat(threshold.verdict(value)).isEqualTo(verdict);
    assertThat(threshold.reproduced()).isEqualTo("≤ 9");
    assertThat(threshold.refuted()).isEqualTo("> 30");
  }

  @ParameterizedTest
  @CsvSource({
    "0.94, PARTLY",
    "0.95, REPRODUCED",
    "1.05, REPRODUCED",
    "1.2, PARTLY",
    "1.3, REFUTED",
    "0.7, REFUTED"
  })
  void theNearerTheBetter(double value, Verdict verdict) {
    assertThat(new Threshold("ratio", 0.8, 0.95, 1.05, 1.25).verdict(value)).isEqualTo(verdict);
  }

  @Test
  void limitsRise() {
    assertThatIllegalArgumentException().isThrownBy(() -> Threshold.atLeast("x", 1, 2));
    assertThatIllegalArgumentException().isThrownBy(() -> Threshold.atMost("x", 2, 1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Threshold.atLeast("x", Double.NEGATIVE_INFINITY, Double.NaN));
  }

  @Test
  void aPaperIsPartlyReproducedWhereItsClaimsDiffer() {
    assertThat(Verdict.of(List.of(Verdict.REPRODUCED, Verdict.REPRODUCED)))
        .isEqualTo(Verdict.REPRODUCED);
    assertThat(Verdict.of(List.of(Verdict.REPRODUCED, Verdict.REFUTED))).isEqualTo(Verdict.PARTLY);
    assertThat(Verdict.of(List.of(Verdict.REFUTED))).isEqualTo(Verdict.REFUTED);
    assertThatIllegalArgumentException().isThrownBy(() -> Verdict.of(List.of()));
  }

  @Test
  void aRecalledClaimHasNoFigure() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Claim.unmeasured("Ten is 10.", "memory", Certainty.RECALLED))
        .withMessageContaining("Read the paper first");
    assertThat(Claim.unmeasured("Ten is 10.", "page 1", Certainty.TEXT).threshold())
        .isEqualTo(Optional.empty());
  }
}
