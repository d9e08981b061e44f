package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.withPrecision;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.cuda.InterpretedGpu;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.tensor.DType;
import dev.kastor.testkit.Requirement;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Scanner;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("slow")
class GraphModelTest {
  private static final Batch XOR =
      new Batch(4, new float[] {0, 0, 0, 1, 1, 0, 1, 1}, new int[] {0, 1, 1, 0});

  private static double descend(GraphModel model, Batch batch, int steps, float rate) {
    float[] gradient = new float[model.parameters().length];
    float[] statistics = new float[model.statistics().length];
    double loss = Double.NaN;
    for (int step = 0; step < steps; step++) {
      loss = model.pass(batch, gradient, statistics);
      for (int i = 0; i < gradient.length; i++) {
        model.parameters()[i] -= rate * gradient[i];
      }
      model.applyStatistics(statistics);
    }
    return loss;
  }

  private static final Network MLP = new Mlp(20, List.of(17, 9), 5);
  private static final Network CONV = new ConvNet(2, 8, 8, 4, List.of(6, 16));
  private static final Network LANGUAGE = TransformerLanguageModel.ofBytes(12, 16, 4, 2);
  private static final Network POOLED = new Cnn(2, 8, 8, 4, List.of(6, 8), 12);
  private static final Network RESIDUAL = new ResNet(3, 8, 8, 4, 6, List.of(1, 2));
  private static final Network LSTM = new RecurrentLanguageModel(7, 20, 6, 16, Recurrent.Cell.LSTM);
  private static final Network GRU = new RecurrentLanguageModel(7, 20, 6, 16, Recurrent.Cell.GRU);

  private static final Network WIDE = new WideAndDeep(3, 2, 12, 20, 4, List.of(16), 4);

  static Stream<Network> networks() {
    return Stream.of(MLP, CONV, LANGUAGE, POOLED, RESIDUAL, LSTM, GRU, WIDE);
  }

  private static Backend cpu() {
    var choice = Backends.fastest(1);
    Requirement.ONEDNN.check(choice.backend().name().equals("cpu"), choice.reason());
    return choice.backend();
  }

  private static Batch batch(Network network, int examples, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] features = new float[examples * network.example().shape().elements()];
    for (int i = 0; i < features.length; i++) {
      features[i] =
          network.example().dtype() == DType.I32
              ? random.nextInt(network.classes())
              : (float) random.nextDouble(-1, 1);
    }
    int[] targets = new int[examples * network.positions()];
    for (int i = 0; i < targets.length; i++) {
      targets[i] = random.nextInt(network.classes());
    }
    return new Batch(examples, features, targets);
  }

  @ParameterizedTest
  @MethodSource("networks")
  void cpuAgreesWithReference(Network network) {
    assertAgreesWithReference(network, cpu());
  }

  @ParameterizedTest
  @MethodSource("networks")
  void cudaKernelsAgreeWithReference(Network network) {
    assertAgreesWithReference(network, InterpretedGpu.backend());
    assertAgreesWithReference(network, InterpretedGpu.withLibrary());
  }

  private static void assertAgreesWithReference(Network network, Backend backend) {
    Batch batch = batch(network, 3, 1);
    try (GraphModel fast = new GraphModel(network, backend, 5);
        GraphModel plain = new GraphModel(network, reference(), 5)) {
      assertThat(fast.parameters()).isEqualTo(plain.parameters());
      float[] fastGradient = new float[fast.parameters().length];
      float[] plainGradient = new float[fast.parameters().length];
      float[] fastStatistics = new float[fast.statistics().length];
      float[] plainStatistics = new float[fast.statistics().length];
      double fastLoss = fast.pass(batch, fastGradient, fastStatistics);
      double plainLoss = plain.pass(batch, plainGradient, plainStatistics);
      assertThat(fastLoss).isCloseTo(plainLoss, within(1e-5));
      assertThat(fastGradient).containsExactly(plainGradient, withPrecision(2e-5f));
      assertThat(fastStatistics).containsExactly(plainStatistics, withPrecision(1e-5f));
      fast.applyStatistics(fastStatistics);
      plain.applyStatistics(fastStatistics);
      Scores scores = fast.score(batch);
      assertThat(scores.loss()).isCloseTo(plain.score(batch).loss(), within(1e-3));
      assertThat(scores.positions()).isEqualTo(3L * network.positions());
    }
  }

  /** What is ready is final, and it becomes so from the end to the beginning, not all at once. */
  @ParameterizedTest
  @MethodSource("networks")
  void gradientsOfTheLastLayersComeFirst(Network network) {
    Batch batch = batch(network, 3, 1);
    try (GraphModel model = new GraphModel(network, cpu(), 5)) {
      int length = model.parameters().length;
      float[] gradient = new float[length];
      float[] statistics = new float[model.statistics().length];
      List<Integer> starts = new ArrayList<>();
      float[] seen = new float[length];
      model.pass(
          batch,
          gradient,
          statistics,
          from -> {
            int before = starts.isEmpty() ? length : starts.getLast();
            System.arraycopy(gradient, from, seen, from, before - from);
            starts.add(from);
          });
      assertThat(starts).isSortedAccordingTo(Comparator.reverseOrder()).endsWith(0);
      assertThat(starts).doesNotHaveDuplicates().hasSizeGreaterThan(2);
      assertThat(seen).isEqualTo(gradient);
    }
  }

  @ParameterizedTest
  @MethodSource("networks")
  void lossFallsOnOneBatch(Network network) {
    try (GraphModel model = new GraphModel(network, cpu(), 5)) {
      Batch batch = batch(network, 8, 2);
      // Gates pass on less than they get, so recurrent networks bear and need larger steps.
      float rate = network instanceof RecurrentLanguageModel ? 2 : 0.1f;
      double start = descend(model, batch, 1, rate);
      assertThat(descend(model, batch, 60, rate)).isLessThan(0.8 * start);
    }
  }

  @ParameterizedTest
  @MethodSource("networks")
  @Tag("never-retried")
  void equalSeedsGiveEqualBits(Network network) {
    Batch batch = batch(network, 5, 3);
    try (GraphModel one = new GraphModel(network, cpu(), 9);
        GraphModel other = new GraphModel(network, cpu(), 9)) {
      other.warmUp(5);
      other.warmUp(2);
      assertThat(descend(one, batch, 5, 0.1f)).isEqualTo(descend(other, batch, 5, 0.1f));
      assertThat(one.parameters()).isEqualTo(other.parameters());
      assertThat(one.statistics()).isEqualTo(other.statistics());
    }
  }

  @Test
  void processMemoryDoesNotGrowWithSteps() throws IOException {
    Path status = Path.of("/proc/self/statm");
    assumeThat(status).as("resident size is read from Linux").exists();
    try (GraphModel model = new GraphModel(CONV, cpu(), 9)) {
      Batch batch = batch(CONV, 8, 3);
      descend(model, batch, 200, 0.01f);
      long least = Long.MAX_VALUE;
      for (int span = 0; span < 4; span++) {
        long before = residentPages(status);
        descend(model, batch, 400, 0.01f);
        least = Math.min(least, residentPages(status) - before);
      }
      // A leak of one activation (8 x 8 x 8 x 6 floats) per step would be 1200 pages of 4 KiB in
      // each span; the compiler of the JVM needs some megabytes now and then.
      assertThat(least).isLessThan(1000);
    }
  }

  private static long residentPages(Path status) throws IOException {
    System.gc();
    try (Scanner pages = new Scanner(status, StandardCharsets.US_ASCII)) {
      pages.nextLong(); // The virtual size comes first.
      return pages.nextLong();
    }
  }

  @Test
  void learnsExclusiveOr() {
    try (GraphModel model = new GraphModel(new Mlp(2, List.of(8), 2), reference(), 7)) {
      assertThat(descend(model, XOR, 300, 0.5f)).isLessThan(0.05);
      Scores scores = model.score(XOR);
      assertThat(scores.accuracy()).isEqualTo(1);
      assertThat(scores.meanLoss()).isLessThan(0.05);
    }
  }

  @Test
  void namesWhatDoesNotFit() {
    try (GraphModel model = new GraphModel(new Mlp(2, List.of(), 2), reference(), 7)) {
      float[] gradient = new float[model.parameters().length];
      assertThatIllegalArgumentException()
          .isThrownBy(
              () -> model.pass(new Batch(1, new float[3], new int[1]), gradient, new float[0]))
          .withMessage("features has 3 elements, but the model needs 2.");
      assertThatIllegalArgumentException()
          .isThrownBy(
              () -> model.pass(new Batch(1, new float[2], new int[] {2}), gradient, new float[0]))
          .withMessage("A target is 2, but the classes are 0 to 1.");
    }
  }

  private static Backend reference() {
    return new ReferenceBackend();
  }
}
