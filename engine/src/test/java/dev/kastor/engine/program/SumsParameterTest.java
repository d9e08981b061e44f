package dev.kastor.engine.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kastor.engine.train.ProgramException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SumsParameterTest {
  @Test
  void theProgramDoesNotSeeIt() throws Exception {
    Map<String, String> parameters = new HashMap<>(Map.of("seed", "1", "sums", " nccl"));
    assertThat(SumsParameter.take(parameters)).isEqualTo(SumsParameter.NCCL);
    assertThat(parameters).containsOnlyKeys("seed");
    assertThat(SumsParameter.take(parameters)).isEqualTo(SumsParameter.RING);
  }

  @Test
  void otherValuesAreRefused() {
    assertThatExceptionOfType(ProgramException.class)
        .isThrownBy(() -> SumsParameter.take(new HashMap<>(Map.of("sums", "mpi"))))
        .withMessage("Parameter 'sums' must be ring or nccl but is 'mpi'.");
  }
}
