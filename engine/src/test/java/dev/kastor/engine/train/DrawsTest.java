package dev.kastor.engine.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DrawsTest {
  /** Computed beside this code, in Python. */
  @Test
  void drawsAreTheSameForGood() {
    assertThat(IntStream.range(0, 4).mapToDouble(index -> Draws.uniform(1, 0, index)))
        .containsExactly(
            0.7497482413580301, 0.37239342287916577, 0.4382839062845528, 0.9541167159066205);
  }

  @Test
  void streamsAndSeedsAreAlike() {
    for (long stream = 0; stream < 3; stream++) {
      long own = stream;
      double[] draws =
          IntStream.range(0, 100_000).mapToDouble(index -> Draws.uniform(9, own, index)).toArray();
      double mean = IntStream.range(0, draws.length).mapToDouble(i -> draws[i]).average().orElse(0);
      double next =
          IntStream.range(1, draws.length)
              .mapToDouble(i -> (draws[i] - 0.5) * (draws[i - 1] - 0.5) * 12)
              .average()
              .orElse(0);
      assertThat(mean).isCloseTo(0.5, within(0.005));
      assertThat(next).as("correlation of neighbours").isCloseTo(0, within(0.015));
      assertThat(draws[0]).isNotEqualTo(Draws.uniform(9, stream + 1, 0));
    }
  }
}
