package dev.kastor.simulator.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.scheduler.policy.registry.Policies;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class DecideBenchmarkTest {
  @Tag("slow")
  @Test
  void measuresWhatItIsAskedFor() throws IOException {
    DecideCase asked = new DecideCase(Policies.choose("sia"), 6, 16, 10);
    List<String> lines = new ArrayList<>();
    DecideResult result = DecideBenchmark.run(asked, Duration.ofMinutes(1), 1, lines::add);
    assertThat(result.measured()).isEqualTo(asked);
    assertThat(result.full().mean()).isPositive().isLessThanOrEqualTo(result.full().p99());
    assertThat(result.full().p99()).isEqualTo(result.full().max());
    assertThat(result.incremental().p99()).isPositive();
    assertThat(result.aroundMillis()).isPositive();
    assertThat(result.peakBytes()).isGreaterThan(10_000_000);
    assertThat(lines).contains("sia, 6 jobs x 16 GPUs: 10 of 10 decisions");
  }

  @Tag("slow")
  @Test
  void endsWhenItsTimeIsOver() throws IOException {
    DecideCase asked = new DecideCase(Policies.choose("srtf"), 20, 64, 1_000_000);
    DecideResult result = DecideBenchmark.run(asked, Duration.ofNanos(1), 1, line -> {});
    assertThat(result.measured().decisions()).isEqualTo(1);
  }

  @Test
  void knowsHowManyDecisionsFitASize() {
    assertThat(
            DecideCase.parse(
                List.of(Policies.choose("srtf")),
                List.of("20x64", "500x2000", "2000x16000", "10000x100000"),
                0))
        .extracting(DecideCase::decisions)
        .containsExactly(1000, 200, 60, 20);
    assertThatThrownBy(() -> DecideCase.parse(List.of(Policies.choose("srtf")), List.of("20"), 0))
        .hasMessageContaining("JOBSxGPUS such as 20x64");
    assertThatThrownBy(
            () -> DecideCase.parse(List.of(Policies.choose("srtf")), List.of("20x60"), 0))
        .hasMessageContaining("gpus must be a multiple of 8");
  }

  @Test
  void percentilesAreOfTheMeasuredValues() {
    double[] values = new double[200];
    for (int i = 0; i < 200; i++) {
      values[i] = 200 - i;
    }
    Spread spread = Spread.of(values);
    assertThat(spread.mean()).isCloseTo(100.5, within(1e-9));
    assertThat(spread.p99()).isEqualTo(198);
    assertThat(spread.max()).isEqualTo(200);
  }
}
