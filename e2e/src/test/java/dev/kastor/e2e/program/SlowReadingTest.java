package dev.kastor.e2e.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.program.Programs;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Trainable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SlowReadingTest {
  private static final int[] BATCH = {0, 1, 2, 3};

  @Tag("slow")
  @Test
  void waitsForTheExamplesOfEachPassAndComputesTheSameBits() throws ProgramException {
    Program program = Programs.get("glyph-mlp");
    List<Integer> waited = new ArrayList<>();
    try (Trainable plain = program.load(program.defaultParameters());
        Trainable slow =
            new SlowTrainable(program.load(program.defaultParameters()), waited::add)) {
      float[] expected = new float[plain.parameters().length];
      float[] gradient = new float[slow.parameters().length];
      double loss = plain.pass(BATCH, expected, new float[plain.statistics().length]);

      assertThat(slow.pass(BATCH, gradient, new float[slow.statistics().length])).isEqualTo(loss);
      assertThat(gradient).containsExactly(expected);
      assertThat(slow.pass(BATCH, gradient, new float[slow.statistics().length], _ -> {}))
          .isEqualTo(loss);
      assertThat(waited).containsExactly(BATCH.length, BATCH.length);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "many", "NaN"})
  void refusesARateThatIsNone(String rate) {
    assertThatThrownBy(
            () -> new SlowReading().load(Map.of("program", "glyph-mlp", "examplesPerSecond", rate)))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("examplesPerSecond")
        .hasMessageContaining(rate);
  }
}
