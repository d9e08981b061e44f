package dev.kastor.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kastor.agent.ring.Sums;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GradientSumsTest {
  @Test
  void theRingUnlessAskedFor() throws Exception {
    assertThat(GradientSums.take(new HashMap<>())).isEqualTo(GradientSums.RING);
    assertThat(GradientSums.RING.maker()).isSameAs(Sums.Maker.RING);
  }

  @Test
  void theProgramDoesNotSeeIt() throws Exception {
    Map<String, String> parameters = new HashMap<>(Map.of("seed", "1", "sums", " nccl"));
    assertThat(GradientSums.take(parameters)).isEqualTo(GradientSums.NCCL);
    assertThat(parameters).containsOnlyKeys("seed");
  }

  @Test
  void otherValuesAreRefused() {
    assertThatExceptionOfType(PermanentException.class)
        .isThrownBy(() -> GradientSums.take(new HashMap<>(Map.of("sums", "mpi"))))
        .withMessage("Parameter 'sums' must be ring or nccl but is 'mpi'.");
  }
}
