package dev.kastor.engine.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.nn.Forward;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Model;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Trainable;
import dev.kastor.engine.train.Update;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ProgramsTest {
  @TempDir static Path folder;

  static List<Program> programs() {
    return Programs.all();
  }

  /** Parameters that make a program small and give it a file where it needs one. */
  private static Map<String, String> small(Program program) throws IOException {
    Map<String, String> small = new HashMap<>();
    Map<String, String> sizes =
        Map.of(
            "trainingExamples",
            "60",
            "heldOutExamples",
            "20",
            "hidden",
            "8",
            "channels",
            "4",
            "width",
            "8",
            "context",
            "8",
            "layers",
            "1");
    sizes.forEach((name, value) -> {
      if (program.defaultParameters().containsKey(name)) {
        small.put(name, value);
      }
    });
    if (program.name().startsWith("image-") || program.name().startsWith("table-")) {
      StringBuilder csv = new StringBuilder("a,b,c,d,label\n");
      for (int i = 0; i < 40; i++) {
        csv.append("%d,%d,%d,%d,%s\n".formatted(i, i % 3, -i, i * i, i % 2 == 0 ? "x" : "y"));
      }
      small.put("data", Files.writeString(folder.resolve("d.csv"), csv).toString());
      if (program.defaultParameters().containsKey("format")) {
        small.put("format", "csv");
      }
    } else if (program.name().equals("text-lm")) {
      Path text = Files.writeString(folder.resolve("d.txt"), "to be or not to be ".repeat(40));
      small.put("data", text.toString());
    } else if (program.name().equals("text-rnn")) {
      StringBuilder lines = new StringBuilder();
      for (int i = 0; i < 40; i++) {
        lines.append("%s\t%s\n".formatted(i % 2 == 0 ? "x" : "y", i % 2 + "ab".repeat(1 + i % 5)));
      }
      small.put("data", Files.writeString(folder.resolve("d.tsv"), lines).toString());
    }
    return small;
  }

  @Test
  void hasTheProgramsOfTheExamples() throws ProgramException {
    assertThat(Programs.get("glyph-mlp").name()).isEqualTo("glyph-mlp");
    assertThat(Programs.all().stream().map(Program::name))
        .doesNotHaveDuplicates()
        .contains("glyph-mlp", "glyph-cnn", "byte-lm");
    assertThatThrownBy(() -> Programs.get("glyph-mpl"))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("'glyph-mpl'")
        .hasMessageContaining("glyph-mlp, glyph-cnn, byte-lm");
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("programs")
  @Tag("never-retried")
  void startsFromIdenticalParameters(Program program) throws Exception {
    Map<String, String> small = small(program);
    Map<String, String> reseeded = new HashMap<>(small);
    reseeded.put("seed", "2");
    try (Trainable first = program.load(small);
        Trainable second = program.load(small);
        Trainable other = program.load(reseeded)) {
      assertThat(first.parameters()).isNotEmpty().isEqualTo(second.parameters());
      assertThat(first.statistics()).isEqualTo(second.statistics());
      assertThat(other.parameters()).isNotEqualTo(first.parameters());
      assertThat(program.description()).endsWith(".");
    }
  }

  @ParameterizedTest
  @MethodSource("programs")
  void saysWhatItsModelIs(Program program) throws Exception {
    Map<String, String> small = small(program);
    Model model = Programs.model(program.name(), small, folder);
    Forward forward = Forward.of(model.network(), 1);
    try (Trainable trainable = program.load(small)) {
      assertThat(trainable.layout()).isEqualTo(forward.layout());
      assertThat(trainable.parameters()).hasSize(forward.layout().elements());
      assertThat(trainable.statistics()).hasSize(forward.statisticsLayout().elements());
    }
    assertThat(Stream.concat(forward.parameters().stream(), forward.statistics().stream()))
        .extracting(Forward::name)
        .doesNotHaveDuplicates();
    boolean ofBytes = model.inputs() instanceof Inputs.Bytes;
    assertThat(model.labels()).hasSize(ofBytes ? 0 : model.network().classes());
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("programs")
  void givesEqualGradientsForEqualExamplesAndOtherOnesForOthers(Program program) throws Exception {
    try (Trainable trainable = program.load(small(program))) {
      float[] gradient = new float[trainable.parameters().length];
      float[] again = new float[gradient.length];
      float[] other = new float[gradient.length];
      float[] statistics = new float[trainable.statistics().length];
      double loss = trainable.pass(new int[] {3, 1, 7, 5}, gradient, statistics);
      trainable.pass(new int[] {2, 0, 9, 8}, other, statistics);
      double lossAgain = trainable.pass(new int[] {3, 1, 7, 5}, again, statistics);

      assertThat(loss).isPositive().isFinite().isEqualTo(lossAgain);
      assertThat(again).isEqualTo(gradient).isNotEqualTo(other);
      assertThat(trainable.evaluate().value()).isFinite();
      assertThat(trainable.trainingExamples()).isGreaterThanOrEqualTo(30);
    }
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("programs")
  void learnsItsOwnExamples(Program program) throws Exception {
    Map<String, String> small = small(program);
    try (Trainable trainable = program.load(small)) {
      Optimizer optimizer = program.optimizer(small);
      float[] gradient = new float[trainable.parameters().length];
      Layout layout = trainable.layout();
      SequencedMap<String, float[]> slots = optimizer.newSlots(layout);
      float[] statistics = new float[trainable.statistics().length];
      int[] examples = {0, 1, 2, 3, 4, 5, 6, 7};
      double first = trainable.pass(examples, gradient, statistics);
      for (int step = 0; step < 120; step++) {
        trainable.pass(examples, gradient, statistics);
        optimizer.apply(new Update(layout, trainable.parameters(), gradient, slots, 0.02, step));
        trainable.applyStatistics(statistics);
      }
      assertThat(trainable.pass(examples, gradient, statistics)).isLessThan(0.8 * first);
    }
  }

  @ParameterizedTest
  @MethodSource("programs")
  void refusesUnknownParametersAndListsTheValidOnes(Program program) {
    assertThatThrownBy(() -> program.load(Map.of("lr", "1")))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining(program.name())
        .hasMessageContaining("'lr'")
        .hasMessageContaining(String.join(", ", program.defaultParameters().keySet()));
    assertThatThrownBy(() -> program.optimizer(Map.of("lr", "1")))
        .isInstanceOf(ProgramException.class);
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("programs")
  void namesEveryParameterThatHasABadValue(Program program) throws IOException {
    Map<String, String> small = small(program);
    for (String name : new HashSet<>(program.defaultParameters().keySet())) {
      Map<String, String> bad = new HashMap<>(small);
      bad.put(name, "-7 bad");
      if (name.equals("labelColumn") && small.containsKey("format")) {
        bad.put("format", "csv");
      }
      assertThatThrownBy(() -> program.load(bad).close())
          .as(name)
          .isInstanceOf(ProgramException.class)
          .hasMessageContaining("-7 bad");
    }
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("programs")
  void isCheckedWithoutBeingLoaded(Program program) throws Exception {
    Map<String, String> small = small(program);
    try (Trainable trainable = program.load(small)) {
      assertThat(program.check(small)).hasValue(trainable.trainingExamples());
    }
    for (String name : program.defaultParameters().keySet()) {
      Map<String, String> bad = new HashMap<>(small);
      bad.put(name, "-7 bad");
      assertThatThrownBy(() -> program.check(bad))
          .as(name)
          .isInstanceOfSatisfying(
              ProgramException.class, e -> assertThat(e.parameter()).contains(name))
          .hasMessageContaining("-7 bad");
    }
    assertThatThrownBy(() -> program.check(Map.of("seeed", "1")))
        .hasMessageContaining("Did you mean seed?");
  }

  @Test
  void aNetworkOfMoreParametersThanAVectorHoldsIsRefused() {
    Map<String, String> wide = new HashMap<>(Programs.all().getFirst().defaultParameters());
    wide.putAll(
        Map.of(
            "trainingExamples",
            "60",
            "heldOutExamples",
            "20",
            "backend",
            "reference",
            "hidden",
            "46000,46000,46000"));
    assertThatThrownBy(() -> Programs.all().getFirst().load(wide))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("The network has 424")
        .hasMessageContaining("Make its layers narrower or fewer.");
  }

  @Test
  void saysWhatIsMissing() {
    assertThatThrownBy(() -> Programs.get("text-lm").load(Map.of()))
        .hasMessageContaining("Parameter 'data' must be given");
    assertThatThrownBy(() -> Programs.get("image-mlp").load(Map.of("data", "/nowhere")))
        .hasMessageContaining("/nowhere");
    assertThatThrownBy(() ->
            Programs.get("glyph-cnn")
                .load(Map.of("side", "18", "trainingExamples", "10", "heldOutExamples", "10")))
        .hasMessageContaining("'channels' does not fit");
    assertThatThrownBy(() -> Programs.get("byte-lm").load(Map.of("heads", "5")))
        .hasMessageContaining("multiple of heads");
  }
}
