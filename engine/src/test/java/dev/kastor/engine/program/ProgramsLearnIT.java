package dev.kastor.engine.program;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.data.Stories;
import dev.kastor.engine.data.Text;
import dev.kastor.engine.data.TextEntropy;
import dev.kastor.protocol.BatchPlan;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Trains the programs of the examples to their goals, through changes of replicas and batch. */
class ProgramsLearnIT {
  @Test
  void glyphMlpTellsGlyphsApartAcrossResizes() throws Exception {
    try (TrainingRun run =
        new TrainingRun(Programs.get("glyph-mlp"), Map.of(), 64, 0.05, "AdaScale")) {
      run.trainTo(500, 1, new BatchPlan(64, 0));
      run.trainTo(900, 2, new BatchPlan(64, 0));
      run.trainTo(1600, 4, new BatchPlan(32, 1));
      run.trainTo(2000, 1, new BatchPlan(64, 1));

      assertThat(run.evaluate()).isGreaterThanOrEqualTo(0.97);
      assertThat(run.step()).isLessThan(1900);
      assertThat(run.lostOrRepeated()).isZero();
    }
  }

  @Test
  void aLargerBatchReachesTheSameWithTheSameProgressInFewerSteps() throws Exception {
    Map<String, String> small = Map.of("hidden", "64", "trainingExamples", "10000");
    try (TrainingRun one = new TrainingRun(Programs.get("glyph-mlp"), small, 32, 0.03, "AdaScale");
        TrainingRun many =
            new TrainingRun(Programs.get("glyph-mlp"), small, 32, 0.03, "AdaScale")) {
      one.trainTo(2500, 1, new BatchPlan(32, 0));
      many.trainTo(2500, 4, new BatchPlan(64, 0));

      assertThat(many.step()).isLessThan(one.step() / 2);
      assertThat(many.evaluate()).isGreaterThan(one.evaluate() - 0.02);
    }
  }

  @Test
  void glyphCnnTellsGlyphsApart() throws Exception {
    try (TrainingRun run =
        new TrainingRun(Programs.get("glyph-cnn"), Map.of(), 32, 0.03, "AdaScale")) {
      run.trainTo(500, 1, new BatchPlan(32, 0));
      run.trainTo(1000, 2, new BatchPlan(32, 0));
      run.trainTo(1500, 1, new BatchPlan(32, 1));

      // Reaches 99 %; batch statistics make single evaluations dip by up to 3 points.
      assertThat(run.evaluate()).isGreaterThanOrEqualTo(0.95);
      assertThat(run.lostOrRepeated()).isZero();
    }
  }

  @Test
  void byteLmPredictsBetterThanPairsOfBytesDo() throws Exception {
    Text text = Stories.load();
    try (TrainingRun run =
        new TrainingRun(Programs.get("byte-lm"), Map.of(), 16, 0.002, "SquareRoot")) {
      run.trainTo(200, 2, new BatchPlan(8, 0));

      assertThat(run.evaluate())
          .isLessThan(TextEntropy.bigramBits(text))
          .isLessThan(TextEntropy.unigramBits(text));
    }
  }

  @Test
  void textRnnTellsSentencesApart() throws Exception {
    Map<String, String> given =
        Map.of("data", "../examples/sentences.tsv", "context", "80", "width", "32");
    try (TrainingRun run =
        new TrainingRun(Programs.get("text-rnn"), given, 16, 0.005, "SquareRoot")) {
      run.trainTo(100, 1, new BatchPlan(16, 0));
      run.trainTo(200, 2, new BatchPlan(8, 0));

      assertThat(run.evaluate()).isGreaterThanOrEqualTo(0.95);
      assertThat(run.lostOrRepeated()).isZero();
    }
  }
}
