package dev.kastor.engine.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.Trainable;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Losses of single examples, of a classifier and of a language model. */
class ExampleLossesTest {
  private static final Map<String, String> SMALL =
      Map.of(
          "backend", "reference",
          "trainingExamples", "60",
          "heldOutExamples", "20",
          "hidden", "8",
          "width", "8",
          "context", "8");

  @ParameterizedTest
  @ValueSource(strings = {"glyph-mlp", "byte-lm"})
  void theirMeanIsTheLossOfAPass(String name) throws Exception {
    Program program = Programs.get(name);
    Map<String, String> parameters = new HashMap<>(program.defaultParameters());
    SMALL.forEach((key, value) -> parameters.computeIfPresent(key, (_, _) -> value));
    parameters.put("backend", "reference");
    try (Trainable model = program.load(parameters)) {
      Trainable.ExampleLosses reader = model.exampleLosses().orElseThrow();
      int[] examples = IntStream.range(7, 20).toArray();
      float[] losses = new float[examples.length];
      reader.read(examples, losses);
      double mean =
          IntStream.range(0, losses.length).mapToDouble(i -> losses[i]).average().orElseThrow();
      double passed =
          model.pass(
              examples, new float[model.parameters().length], new float[model.statistics().length]);
      assertThat(mean).isPositive().isCloseTo(passed, within(1e-5 * passed));
      float[] alone = new float[1];
      for (int i = 0; i < examples.length; i++) {
        reader.read(new int[] {examples[i]}, alone);
        assertThat(losses[i]).as("example %d", examples[i]).isCloseTo(alone[0], within(1e-5f));
      }
      assertThat(losses).as("examples differ").doesNotHaveDuplicates();
    }
  }
}
