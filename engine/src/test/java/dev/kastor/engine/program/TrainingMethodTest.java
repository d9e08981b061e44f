package dev.kastor.engine.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.exec.MemoryCapException;
import dev.kastor.engine.graph.pass.GraphPass;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.engine.train.GradientStage;
import dev.kastor.engine.train.GradientStagePlugin;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.ServerPlan;
import dev.kastor.engine.train.Trainable;
import dev.kastor.engine.train.TunerPlugin;
import dev.kastor.engine.train.Update;
import dev.kastor.testkit.SourceJar;
import dev.kastor.training.Drift;
import dev.kastor.training.TrainingChoices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Features that {@code spec.training} names, of Kastor's own and of the example's jar. */
class TrainingMethodTest {
  private static final GradientStage.StepView STEP = new GradientStage.StepView(0, 8, 1);

  /** A stage that makes no sense beside the example's. */
  private static final String SIGN =
      """
      package com.example;
      import dev.kastor.engine.train.GradientStage;
      import dev.kastor.engine.train.GradientStagePlugin;
      import dev.kastor.plugin.Options;
      import java.util.Set;
      public final class Sign implements GradientStagePlugin {
        public String name() { return "sign"; }
        public String description() { return "Keeps the signs alone."; }
        public Set<String> excludes() { return Set.of("clip", "tableProducts"); }
        public GradientStage create(Options options) {
          return (gradient, step) -> {
            for (int i = 0; i < gradient.length; i++) {
              gradient[i] = Math.signum(gradient[i]);
            }
          };
        }
      }
      """;

  /** A pass that changes nothing. */
  private static final String SAME =
      """
      package com.example;
      import dev.kastor.engine.graph.Node;
      import dev.kastor.engine.graph.pass.GraphPass;
      import java.util.List;
      public final class Same implements GraphPass {
        public String name() { return "same"; }
        public String description() { return "Changes nothing."; }
        public Stage stage() { return Stage.BEFORE_COMPILATION; }
        public List<Node> apply(List<Node> results) { return results; }
      }
      """;

  /** A tuner that makes no sense beside a selector. */
  private static final String HALF =
      """
      package com.example;
      import dev.kastor.engine.train.Section;
      import dev.kastor.engine.train.Tuner;
      import dev.kastor.engine.train.TunerPlugin;
      import dev.kastor.plugin.Options;
      import java.util.List;
      import java.util.Set;
      public final class Half implements TunerPlugin {
        public String name() { return "half"; }
        public String description() { return "Halves the learning rate."; }
        public Set<String> excludes() { return Set.of("backprop"); }
        public Tuner create(Options options) {
          return new Tuner() {
            public List<Section> state() { return List.of(); }
            public double factor() { return 0.5; }
            public void applied(AppliedStep step) {}
          };
        }
      }
      """;

  /** A stage that makes no sense where the gradient is that of one replica. */
  private static final String SHARED =
      """
      package com.example;
      import dev.kastor.engine.train.GradientStage;
      import dev.kastor.engine.train.GradientStagePlugin;
      import dev.kastor.plugin.Options;
      import java.util.Set;
      public final class Shared implements GradientStagePlugin {
        public String name() { return "shared"; }
        public String description() { return "Changes nothing."; }
        public Set<String> excludes() { return Set.of("local"); }
        public GradientStage create(Options options) { return (gradient, step) -> {}; }
      }
      """;

  @TempDir private Path folder;

  private TrainingMethod method(Map<String, ?> training) throws ProgramException {
    return TrainingMethod.of(TrainingChoices.parse(training), folder);
  }

  private static Map<String, ?> gradients(Object... stages) {
    return Map.of("gradients", List.of(stages));
  }

  private void addExample() throws IOException {
    SourceJar.ofExample(folder, "gradient-stage", GradientStagePlugin.class);
  }

  @Test
  void nothingChosenIsTrainingAsItWas() throws Exception {
    assertThat(method(Map.of())).isSameAs(TrainingMethod.USUAL);
    assertThat(TrainingMethod.USUAL.drift()).isEqualTo(Drift.REPAIR);
    assertThat(method(Map.of("drift", "fail")).drift()).isEqualTo(Drift.FAIL);
    assertThat(TrainingMethod.USUAL.gradients()).isEmpty();
    assertThat(TrainingMethod.USUAL.codec()).isEmpty();
    assertThat(TrainingMethod.USUAL.updates()).isEmpty();
    assertThat(TrainingMethod.USUAL.select()).isEmpty();
    assertThat(TrainingMethod.USUAL.selector(1, 1)).isEmpty();
    assertThat(TrainingMethod.USUAL.tune()).isEmpty();
    assertThat(TrainingMethod.USUAL.tuner()).isEmpty();
    assertThat(TrainingMethod.USUAL.sync()).isEmpty();
    assertThat(TrainingMethod.USUAL.syncPolicy()).isEmpty();
    assertThat(TrainingMethod.USUAL.passes().switches()).isEmpty();
  }

  @Test
  void theExampleShortensWhatIsLongerThanItsNorm() throws Exception {
    addExample();
    GradientStage clip =
        method(gradients(Map.of("clip", Map.of("norm", 2)))).gradients().getFirst();
    float[] longer = {3, 0, -4};
    clip.change(longer, STEP);
    assertThat(longer).containsExactly(new float[] {1.2f, 0, -1.6f}, within(1e-6f));
    float[] shorter = {1, 0, -1};
    clip.change(shorter, STEP);
    assertThat(shorter).containsExactly(1, 0, -1);
  }

  @Test
  void optionsAreCheckedByTheStage() throws Exception {
    addExample();
    assertThatThrownBy(() -> method(gradients(Map.of("clip", Map.of("norm", 0)))))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining(
            "training.gradients: gradient stage clip: norm must be a number above 0");
    assertThatThrownBy(() -> method(gradients(Map.of("clip", Map.of("nrom", 1)))))
        .hasMessageContaining("gradient stage clip has no option 'nrom'. Use one of: norm");
  }

  @Test
  void unknownNamesAreAnsweredWithThoseThatThereAre() throws Exception {
    assertThatThrownBy(() -> method(gradients("clip")))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("there is no gradient stage 'clip', and no other one.")
        .hasMessageContaining(folder.toString());
    addExample();
    assertThatThrownBy(() -> method(gradients("clip", "clop")))
        .hasMessageContaining("there is no gradient stage 'clop'. Use one of: clip");
    assertThatThrownBy(() -> method(Map.of("passes", Map.of("tableProduct", "off"))))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("training.passes: there is no graph pass 'tableProduct'")
        .hasMessageContaining("Use one of: tableProducts");
  }

  @Tag("slow")
  @Test
  void aPairThatMakesNoSenseIsRefusedWithBothNames() throws Exception {
    addExample();
    Path source = Files.writeString(folder.resolve("Sign.java"), SIGN);
    SourceJar.make(
        folder.resolve("sign.jar"),
        List.of(source),
        GradientStagePlugin.class.getName(),
        List.of("com.example.Sign"));
    TrainingMethod alone = method(gradients("sign"));
    assertThat(alone.gradients()).hasSize(1);
    assertThat(alone.passes().passes()).as("a pass that nobody switched gives way").isEmpty();
    assertThatThrownBy(() -> method(gradients("clip", "sign")))
        .isInstanceOf(ProgramException.class)
        .hasMessage("training: clip and sign make no sense together. Choose one of them.");
  }

  @Test
  void passesAreSwitched() throws Exception {
    assertThat(method(Map.of("passes", Map.of("tableProducts", "off"))).passes().switches())
        .isEqualTo(Map.of("tableProducts", false));
  }

  @Test
  void aPassOfAJarIsThereIfItIsNamedAndNotOtherwise() throws Exception {
    Path source = Files.writeString(folder.resolve("Same.java"), SAME);
    SourceJar.make(
        folder.resolve("same.jar"),
        List.of(source),
        GraphPass.class.getName(),
        List.of("com.example.Same"));
    assertThat(passes(Map.of("tableProducts", "on"))).containsExactly("tableProducts");
    assertThat(passes(Map.of("same", "on"))).containsExactly("tableProducts", "same");
  }

  private List<String> passes(Map<String, ?> switches) throws ProgramException {
    return method(Map.of("passes", switches)).passes().passes().stream()
        .map(GraphPass::name)
        .toList();
  }

  @Tag("slow")
  @Test
  void aCodecIsOneOfKastorsOrOfAJar() throws Exception {
    assertThat(method(Map.of("codec", "bf16")).codec().orElseThrow().name()).isEqualTo("bf16");
    assertThatThrownBy(() -> method(Map.of("codec", "topk")))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("training.codec: there is no gradient codec 'topk'. Use one of: bf16")
        .hasMessageContaining(folder.toString());
    SourceJar.ofExample(folder, "codec", GradientCodecPlugin.class);
    assertThat(method(Map.of("codec", Map.of("topk", Map.of("share", 0.1)))).codec().orElseThrow())
        .hasToString("topk:share=0.1");
    assertThatThrownBy(() -> method(Map.of("codec", Map.of("topk", Map.of("share", 2)))))
        .hasMessageContaining("gradient codec topk: share must be a number above 0 and at most 1");
  }

  @Test
  void aCollectiveIsOneOfKastorsOrOfAJar() throws Exception {
    for (String name : List.of("ring", "hierarchical", "nccl")) {
      assertThat(method(Map.of("collective", name)).collective().orElseThrow().name())
          .isEqualTo(name);
    }
    assertThat(TrainingMethod.USUAL.collective()).isEmpty();
    assertThat(problem(Map.of("collective", "hierarchic")).orElseThrow())
        .startsWith("training.collective: there is no collective 'hierarchic'. Use one of: ring, ")
        .contains("Did you mean hierarchical?");
    assertThat(problem(Map.of("collective", Map.of("ring", Map.of("size", 1)))).orElseThrow())
        .startsWith("training.collective: collective ring has no option 'size'");
  }

  @Test
  void aCodecBesideWhateverSumsIsRefusedWithBothNames() throws Exception {
    for (String collective : List.of("nccl", "hierarchical")) {
      assertThat(problem(Map.of("codec", "bf16", "collective", collective)).orElseThrow())
          .startsWith("training: codec bf16 and collective " + collective)
          .endsWith("Choose one of them.");
    }
    assertThat(problem(Map.of("codec", "bf16", "collective", "ring"))).isEmpty();
    assertThat(problem(Map.of("sync", "local", "tune", "phases", "collective", "hierarchical")))
        .isEmpty();
  }

  /** Jobs that are stored may have the parameter. */
  @Test
  void theOldParameterChoosesACollectiveAsWell() throws Exception {
    Map<String, String> codec = Map.of("codec", "bf16");
    assertThat(TrainingMethod.problem(codec, 1, 4, Map.of("sums", "nccl"), folder).orElseThrow())
        .contains("bf16", "nccl");
    assertThat(TrainingMethod.problem(codec, 1, 4, Map.of("sums", "ring"), folder)).isEmpty();
    assertThat(TrainingMethod.problem(Map.of(), 1, 4, Map.of("sums", "nccl"), folder)).isEmpty();
    assertThat(
            TrainingMethod.problem(
                    Map.of("collective", "hierarchical"), 1, 4, Map.of("sums", "nccl"), folder)
                .orElseThrow())
        .startsWith("training.collective: hierarchical and the program's parameter sums: nccl");
    assertThat(TrainingMethod.problem(codec, 1, 4, Map.of("sums", "mpi"), folder))
        .as("told of by the check of the program")
        .isEmpty();
  }

  @Test
  void stagesOfUpdatesAreMadeForTheLayoutOfTheModel() throws Exception {
    TrainingMethod method =
        method(Map.of("updates", List.of(Map.of("max-norm", Map.of("norm", 1)))));
    assertThat(method.updates()).hasToString("[max-norm:norm=1]");
    Layout layout = Layout.of(List.of("weight", "bias"), List.of(Shape.of(2, 2), Shape.of(2)));
    float[] parameters = {3, 0.1f, 4, 0.2f, 5, 6};
    method
        .updates(layout)
        .getFirst()
        .change(new Update(layout, parameters, new float[6], new TreeMap<>(), 0.1, 0));
    assertThat(parameters)
        .containsExactly(new float[] {0.6f, 0.1f, 0.8f, 0.2f, 5, 6}, within(1e-6f));
    assertThatThrownBy(() -> method(Map.of("updates", List.of("maxnorm"))))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining(
            "training.updates: there is no update stage 'maxnorm'. Use one of: max-norm");
    assertThatThrownBy(
            () -> method(Map.of("updates", List.of(Map.of("max-norm", Map.of("norm", 0))))))
        .hasMessageContaining("update stage max-norm: norm must be a number above 0");
  }

  @Test
  void aModelForWhichAStageMakesNoSenseIsRefused() throws Exception {
    try (Trainable model = new Vector()) {
      TrainingMethod.USUAL.checkModel(model);
      TrainingMethod method = method(Map.of("updates", List.of("max-norm")));
      assertThatThrownBy(() -> method.checkModel(model))
          .isInstanceOf(ProgramException.class)
          .hasMessage(
              "training.updates: update stage max-norm: the model has no matrix or kernel, and"
                  + " vectors have no bound. Take it out.");
    }
  }

  @Test
  void aSelectorIsOneOfKastors() throws Exception {
    TrainingMethod method = method(Map.of("select", Map.of("backprop", Map.of("beta", 2))));
    assertThat(method.select().orElseThrow()).hasToString("backprop:beta=2");
    assertThat(method.selector(100, 1).orElseThrow().trained(400)).isEqualTo(200);
    assertThatThrownBy(() -> method(Map.of("select", "backdrop")))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("training.select: there is no example selector 'backdrop'")
        .hasMessageContaining("random, backprop. Did you mean backprop?");
    assertThatThrownBy(() -> method(Map.of("select", Map.of("random", Map.of("keep", 0)))))
        .hasMessageContaining("example selector random: keep must be a number of at least 0.001");
  }

  @Test
  void aTunerIsOneOfKastorsOrOfAJar() throws Exception {
    TrainingMethod method = method(Map.of("tune", Map.of("phases", Map.of("warmUp", 20))));
    assertThat(method.tune().orElseThrow()).hasToString("phases:warmUp=20");
    assertThat(method.tuner().orElseThrow().factor()).isEqualTo(0.05);
    assertThatThrownBy(() -> method(Map.of("tune", "platau")))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining(
            "training.tune: there is no tuner 'platau'. Use one of: phases, plateau")
        .hasMessageContaining("Did you mean plateau?");
    assertThatThrownBy(() -> method(Map.of("tune", Map.of("plateau", Map.of("factor", 1)))))
        .hasMessageContaining("tuner plateau: factor must be a number above 0 and below 1");
    Path source = Files.writeString(folder.resolve("Half.java"), HALF);
    SourceJar.make(
        folder.resolve("half.jar"),
        List.of(source),
        TunerPlugin.class.getName(),
        List.of("com.example.Half"));
    assertThat(method(Map.of("tune", "half")).tuner().orElseThrow().factor()).isEqualTo(0.5);
    assertThatThrownBy(() -> method(Map.of("tune", "half", "select", "backprop")))
        .hasMessage("training: backprop and half make no sense together. Choose one of them.");
  }

  @Test
  void aSyncPolicyIsOneOfKastorsAndGoesWithWhatDoesNotExcludeIt() throws Exception {
    TrainingMethod method = method(Map.of("sync", Map.of("local", Map.of("steps", 4))));
    assertThat(method.sync().orElseThrow()).hasToString("local:steps=4");
    assertThat(method.syncPolicy().orElseThrow().period()).isEqualTo(4);
    assertThatThrownBy(() -> method(Map.of("sync", "locale")))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("training.sync: there is no sync policy 'locale'. Use one of: local")
        .hasMessageContaining("Did you mean local?");
    assertThatThrownBy(() -> method(Map.of("sync", Map.of("local", Map.of("steps", 0)))))
        .hasMessageContaining("sync policy local: steps must be a whole number from 1 to 1000");
    assertThat(method(Map.of("sync", "local", "codec", "bf16", "select", "random")).sync())
        .isPresent();
    Path source = Files.writeString(folder.resolve("Shared.java"), SHARED);
    SourceJar.make(
        folder.resolve("shared.jar"),
        List.of(source),
        GradientStagePlugin.class.getName(),
        List.of("com.example.Shared"));
    assertThatThrownBy(() -> method(Map.of("gradients", List.of("shared"), "sync", "local")))
        .isInstanceOf(ProgramException.class)
        .hasMessage("training: shared and local make no sense together. Choose one of them.");
  }

  @Test
  void aModelThatTellsNoLossesIsRefusedWhereASelectorNeedsThem() throws Exception {
    try (Trainable model = new Vector()) {
      method(Map.of("select", "random")).checkModel(model);
      TrainingMethod method = method(Map.of("select", "backprop"));
      assertThatThrownBy(() -> method.checkModel(model))
          .isInstanceOf(ProgramException.class)
          .hasMessageContaining("training.select: backprop looks at the losses")
          .hasMessageContaining("Trainable.exampleLosses");
    }
  }

  /** A model of which no more is known than its two parameters. */
  private static final class Vector implements Trainable {
    @Override
    public int trainingExamples() {
      return 1;
    }

    @Override
    public float[] parameters() {
      return new float[2];
    }

    @Override
    public float[] statistics() {
      return new float[0];
    }

    @Override
    public double pass(int[] examples, float[] gradient, float[] batchStatistics) {
      return 0;
    }

    @Override
    public void applyStatistics(float[] meanBatchStatistics) {}

    @Override
    public Metric evaluate() {
      return new Metric("none", 0, true);
    }

    @Override
    public void warmUp(int atomicBatchSize) {}

    @Override
    public void close() {}
  }

  @Test
  void devicesOfAReplicaShareAModelToTheBit() throws Exception {
    TrainingMethod split = devices(Map.of("split", Map.of("memoryMiB", 64)));
    Program program = Programs.get("glyph-mlp");
    Map<String, String> small = new HashMap<>(program.defaultParameters());
    small.putAll(Map.of("trainingExamples", "20", "heldOutExamples", "4"));
    float[] expected = gradient(program.load(small));
    assertThat(gradient(program.load(small, split.passSettings(2)))).isEqualTo(expected);
    assertThat(gradient(program.load(small, split.passSettings(4)))).isEqualTo(expected);
    assertThat(gradient(program.load(small, devices("whole").passSettings(4)))).isEqualTo(expected);
  }

  private static float[] gradient(Trainable loaded) {
    try (Trainable model = loaded) {
      float[] gradient = new float[model.layout().elements()];
      model.pass(new int[] {1, 5, 3}, gradient, new float[model.statistics().length]);
      return gradient;
    }
  }

  private TrainingMethod devices(Object layout) throws ProgramException {
    return TrainingMethod.of(TrainingChoices.parse(Map.of("devices", layout)), folder);
  }

  @Test
  void aStepNeedsAWorkerThatIsNoBackup() {
    Map<String, ?> training = Map.of("sync", Map.of("parameter-server", Map.of("backup", 3)));
    assertThat(TrainingMethod.problem(training, 1, 4, Map.of(), folder)).isEmpty();
    assertThat(TrainingMethod.problem(training, 1, 3, Map.of(), folder).orElseThrow())
        .startsWith("training.sync: backup (3) leaves no worker")
        .contains("elastic.maxReplicas");
  }

  @Test
  void aSplitNeedsReplicasOfSeveralSlots() throws Exception {
    Map<String, String> training = Map.of("devices", "split");
    assertThat(TrainingMethod.problem(training, 2, 4, Map.of(), folder)).isEmpty();
    assertThat(TrainingMethod.problem(training, 1, 4, Map.of(), folder).orElseThrow())
        .startsWith("training.devices: split needs replicas of several devices")
        .endsWith("elastic.slotsPerReplica is 1. Set it to 2 or more.");
    assertThat(problem(Map.of("devices", "splits")).orElseThrow()).contains("Did you mean split?");
    assertThat(problem(Map.of("devices", Map.of("whole", Map.of("memoryMiB", -1)))).orElseThrow())
        .contains("memoryMiB");
  }

  /** A pass of 8 examples has room, one of the 250 that an evaluation would take has none. */
  @Tag("slow")
  @Test
  void evaluatesInSmallerBatchesWhereMemoryIsShort() throws Exception {
    Program program = Programs.get("glyph-cnn");
    Map<String, String> small = new HashMap<>(program.defaultParameters());
    small.putAll(Map.of("trainingExamples", "20", "heldOutExamples", "270"));
    TrainingMethod tight = devices(Map.of("whole", Map.of("memoryMiB", 6)));
    try (Trainable expected = program.load(small);
        Trainable model = program.load(small, tight.passSettings(1))) {
      assertThatThrownBy(() -> model.warmUp(250)).isInstanceOf(MemoryCapException.class);
      model.warmUp(8);
      assertThat(model.evaluate()).isEqualTo(expected.evaluate());
      model.warmUp(8);
    }
  }

  @Test
  void aModelThatExceedsTheCapSaysByHowMuch() throws Exception {
    TrainingMethod tight = devices(Map.of("whole", Map.of("memoryMiB", 1)));
    Program program = Programs.get("glyph-mlp");
    Map<String, String> small = new HashMap<>(program.defaultParameters());
    small.putAll(Map.of("trainingExamples", "20", "heldOutExamples", "4", "backend", "reference"));
    try (Trainable model = program.load(small, tight.passSettings(1))) {
      assertThatThrownBy(() -> model.warmUp(8))
          .isInstanceOf(MemoryCapException.class)
          .hasMessageContaining("of the cap of 1,048,576 bytes");
    }
  }

  private Optional<String> problem(Map<String, ?> training) {
    return TrainingMethod.problem(training, 1, 4, Map.of(), folder);
  }

  @Test
  void whoSubmitsIsToldTheFirstProblem() {
    assertThat(problem(Map.of())).isEmpty();
    assertThat(problem(gradients("clip")).orElseThrow())
        .contains("there is no gradient stage 'clip'");
    assertThat(problem(Map.of("pases", Map.of())).orElseThrow()).contains("Did you mean passes?");
  }

  @Test
  void serversAreChosenBySyncAndRefusedBesideWhatNeedsAWholeGradient() throws Exception {
    assertThat(method(Map.of("sync", "local")).servers()).isEmpty();
    TrainingMethod usual = method(Map.of("sync", "parameter-server", "tune", "plateau"));
    assertThat(usual.servers()).contains(new ServerPlan(1, false, 0, 0));
    assertThat(usual.syncPolicy()).as("no rounds").isEmpty();
    assertThat(servers(Map.of("servers", 3, "backup", 2)).servers())
        .contains(new ServerPlan(3, false, 2, 0));
    assertThat(servers(Map.of("mode", "asynchronous", "mostStaleness", 7)).servers())
        .contains(new ServerPlan(1, true, 0, 7));
    assertThatThrownBy(() -> servers(Map.of("servers", 65)))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("servers must be a whole number from 1 to 64");
    assertThatThrownBy(() -> servers(Map.of("mode", "asynchronous", "backup", 1)))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("backup (1) is for mode steps");
    assertThatThrownBy(() -> servers(Map.of("mostStaleness", 1)))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("mostStaleness (1) is for mode asynchronous");
    for (Map.Entry<String, Object> other :
        Map.<String, Object>of(
                "codec", "bf16",
                "updates", List.of("max-norm"),
                "select", "random",
                "collective", "hierarchical")
            .entrySet()) {
      assertThatThrownBy(
              () -> method(Map.of("sync", "parameter-server", other.getKey(), other.getValue())))
          .isInstanceOf(ProgramException.class)
          .hasMessageContaining(other.getKey())
          .hasMessageContaining("sync parameter-server make no sense together");
    }
  }

  private TrainingMethod servers(Map<String, Object> options) throws ProgramException {
    return method(Map.of("sync", Map.of("parameter-server", options)));
  }
}
