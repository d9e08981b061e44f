package dev.kastor.engine.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kastor.engine.train.ProgramException;
import dev.kastor.training.TrainingChoices;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SumsParameterTest {
  @Test
  void theProgramDoesNotSeeIt() throws Exception {
    Map<String, String> parameters = new HashMap<>(Map.of("seed", "1", "sums", " nccl"));
    TrainingChoices choices = SumsParameter.take(parameters, TrainingChoices.NONE);
    assertThat(choices).isEqualTo(TrainingChoices.parse(Map.of("collective", "nccl")));
    assertThat(parameters).containsOnlyKeys("seed");
    assertThat(SumsParameter.take(parameters, TrainingChoices.NONE)).isSameAs(TrainingChoices.NONE);
  }

  @Test
  void otherValuesAreRefused() {
    assertThatExceptionOfType(ProgramException.class)
        .isThrownBy(() -> SumsParameter.take(new HashMap<>(Map.of("sums", "mpi"))))
        .withMessage(
            "Parameter 'sums' must be ring or nccl but is 'mpi'. Use training.collective instead.");
  }

  @Test
  void besideACollectiveItIsRefusedWithBothNames() {
    TrainingChoices choices = TrainingChoices.parse(Map.of("collective", "hierarchical"));
    assertThatExceptionOfType(ProgramException.class)
        .isThrownBy(() -> SumsParameter.take(new HashMap<>(Map.of("sums", "ring")), choices))
        .withMessageContaining("hierarchical")
        .withMessageContaining("sums: ring");
  }
}
