package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.cuda.InterpretedGpu;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.exec.GraphExecutor;
import dev.kastor.engine.exec.Memory;
import dev.kastor.engine.exec.MemoryCapException;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.pass.PassPipeline;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.partition.SplitReplica;
import dev.kastor.engine.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Networks whose layers are split over devices with memory of their own. */
final class SplitReplicaTest {
  private static final int EXAMPLES = 64;
  private static final long PLENTY = 1L << 32;
  private static final Network DEEP = new Mlp(512, Collections.nCopies(8, 512), 10);

  /** Three layers, of which the first of two devices has two: it lacks memory before the other. */
  private static final Network FULL_FIRST = new Mlp(512, List.of(512, 512), 512);

  private static Batch batch(Network network, int examples) {
    SplittableRandom random = new SplittableRandom(1);
    boolean tokens = network.example().dtype() == DType.I32;
    float[] features = new float[examples * network.example().shape().elements()];
    for (int i = 0; i < features.length; i++) {
      features[i] = tokens ? random.nextInt(network.classes()) : (float) random.nextDouble(-1, 1);
    }
    int[] targets = new int[examples * network.positions()];
    for (int i = 0; i < targets.length; i++) {
      targets[i] = random.nextInt(network.classes());
    }
    return new Batch(examples, features, targets);
  }

  /** Result of some training steps. */
  @SuppressWarnings("ArrayRecordComponent") // compared by isThatOf
  private record Trained(List<Double> losses, float[] parameters, Scores scores) {
    static Trained of(Network network, GraphExecutor executor, int examples) {
      try (GraphModel model = new GraphModel(network, executor, PassPipeline.USUAL, 5)) {
        Batch batch = batch(network, examples);
        float[] gradient = new float[model.layout().elements()];
        float[] statistics = new float[model.statistics().length];
        List<Double> losses = new ArrayList<>();
        for (int step = 0; step < 4; step++) {
          losses.add(model.pass(batch, gradient, statistics));
          float[] parameters = model.parameters();
          for (int i = 0; i < gradient.length; i++) {
            parameters[i] -= 0.05f * gradient[i];
          }
          model.applyStatistics(statistics);
        }
        return new Trained(losses, model.parameters().clone(), model.score(batch));
      }
    }

    void isThatOf(Trained other) {
      assertThat(losses).isEqualTo(other.losses).doesNotHaveDuplicates();
      assertThat(parameters).isEqualTo(other.parameters);
      assertThat(scores).isEqualTo(other.scores);
    }
  }

  private static SplitReplica split(Backend backend, int devices, long capBytes) {
    return new SplitReplica(Collections.nCopies(devices, backend), capBytes);
  }

  static Stream<Network> networks() {
    return Stream.of(
        new Mlp(20, List.of(17, 9), 5),
        new Cnn(2, 8, 8, 4, List.of(6, 8), 12),
        new ResNet(3, 8, 8, 4, 6, List.of(1, 2)),
        TransformerLanguageModel.ofBytes(12, 16, 4, 2),
        new RecurrentLanguageModel(7, 20, 6, 16, Recurrent.Cell.LSTM),
        new SentenceClassifier(9, 6, 8, Recurrent.Cell.GRU, 5, true),
        new WideAndDeep(3, 2, 12, 20, 4, List.of(16), 4));
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("networks")
  @Tag("never-retried")
  void hasTheBitsOfOneDevice(Network network) {
    Backend backend = Backends.fastest(1).backend();
    Trained one = Trained.of(network, new Session(backend, PLENTY, 1), 6);
    for (int devices = 2; devices <= 3; devices++) {
      SplitReplica split = split(backend, devices, PLENTY);
      Trained.of(network, split, 6).isThatOf(one);
      assertThat(split.memories())
          .filteredOn(memory -> memory.peakBytes() > 0)
          .as("devices that compute")
          .hasSizeGreaterThan(1);
    }
  }

  @Tag("slow")
  @Test
  void aModelOfOneAndAHalfCapsTrainsOnTwoDevices() {
    Backend backend = Backends.fastest(1).backend();
    Session plenty = new Session(backend, PLENTY, 1);
    Memory used = plenty.memory();
    Trained one = Trained.of(DEEP, plenty, EXAMPLES);
    long cap = used.peakBytes() * 2 / 3;

    assertThatThrownBy(() -> Trained.of(DEEP, new Session(backend, cap, 1), EXAMPLES))
        .isInstanceOf(MemoryCapException.class)
        .hasMessageContaining("of the cap of %,d bytes".formatted(cap));
    SplitReplica two = split(backend, 2, cap);
    Trained.of(DEEP, two, EXAMPLES).isThatOf(one);
    for (Memory memory : two.memories()) {
      assertThat(memory.peakBytes()).isGreaterThan(cap / 3);
    }
  }

  @Tag("slow")
  @Test
  void passesOfOtherBatchesGiveTheirMemoryBackWhereItIsShort() {
    Backend backend = Backends.fastest(1).backend();
    Session plenty = new Session(backend, PLENTY, 1);
    Memory used = plenty.memory();
    losses(DEEP, plenty, 64);
    long cap = used.peakBytes() * 5 / 4;
    Session roomy = new Session(backend, PLENTY, 1);
    Memory all = roomy.memory();
    List<Double> expected = losses(DEEP, roomy, 64, 48, 64, 32);
    assertThat(all.peakBytes()).as("bytes of all passes").isGreaterThan(cap);
    Session tight = new Session(backend, cap, 1);
    Memory memory = tight.memory();
    assertThat(losses(DEEP, tight, 64, 48, 64, 32)).isEqualTo(expected);
    assertThat(memory.usedBytes()).as("bytes that are left").isZero();
  }

  @Tag("slow")
  @Test
  void aPassWithoutRoomForItsParametersLeavesNothing() {
    Backend backend = Backends.fastest(1).backend();
    Session plenty = new Session(backend, PLENTY, 1);
    Memory used = plenty.memory();
    losses(DEEP, plenty, EXAMPLES);
    long values = 3L << 20;
    Session tight = new Session(backend, used.peakBytes() + values, 1);
    Memory memory = tight.memory();
    try (GraphModel model = new GraphModel(DEEP, tight, PassPipeline.USUAL, 5)) {
      assertThat(4L * model.layout().elements()).isGreaterThan(2 * values);
      float[] gradient = new float[model.layout().elements()];
      Batch batch = batch(DEEP, EXAMPLES);
      double loss = model.pass(batch, gradient, new float[0]);
      for (int i = 0; i < 3; i++) {
        model.score(batch);
        assertThat(model.pass(batch, gradient, new float[0])).isEqualTo(loss);
      }
    }
    assertThat(memory.usedBytes()).as("bytes that are left").isZero();
  }

  /**
   * A training pass, an evaluation and a training pass under each of many caps that leave the two
   * passes too little room together; some are exceeded after gradients were told.
   */
  @Tag("slow")
  @Test
  void aStepThatToldOfGradientsGoesOnWhereMemoryWasShort() {
    Backend backend = Backends.fastest(1).backend();
    SplitReplica plenty = split(backend, 2, PLENTY);
    losses(FULL_FIRST, plenty, EXAMPLES);
    long least = plenty.memories().stream().mapToLong(Memory::peakBytes).max().orElseThrow();
    Batch batch = batch(FULL_FIRST, EXAMPLES);
    int caps = 0;
    for (long cap = least; cap < 2 * least; cap += least / 16) {
      if (!hasRoomForOnePass(backend, cap)) {
        continue;
      }
      caps++;
      SplitReplica tight = split(backend, 2, cap);
      try (GraphModel model = new GraphModel(FULL_FIRST, tight, PassPipeline.USUAL, 5)) {
        float[] expected = new float[model.layout().elements()];
        double loss = model.pass(batch, expected, new float[0]);
        for (int i = 0; i < 2; i++) {
          model.score(batch);
          float[] gradient = new float[expected.length];
          float[] sent = new float[expected.length];
          int[] told = {expected.length};
          assertThat(
                  model.pass(
                      batch,
                      gradient,
                      new float[0],
                      from -> {
                        assertThat(from).isLessThan(told[0]);
                        System.arraycopy(gradient, from, sent, from, told[0] - from);
                        // What is exchanged is the receiver's from here on.
                        Arrays.fill(gradient, from, told[0], Float.NaN);
                        told[0] = from;
                      }))
              .isEqualTo(loss);
          assertThat(told[0]).isZero();
          assertThat(sent).isEqualTo(expected);
          assertThat(gradient).containsOnly(Float.NaN);
        }
      }
    }
    assertThat(caps).isGreaterThan(5);
  }

  private static boolean hasRoomForOnePass(Backend backend, long cap) {
    try {
      losses(FULL_FIRST, split(backend, 2, cap), EXAMPLES, EXAMPLES);
      return true;
    } catch (MemoryCapException e) {
      return false;
    }
  }

  private static List<Double> losses(Network network, GraphExecutor executor, int... examples) {
    try (GraphModel model = new GraphModel(network, executor, PassPipeline.USUAL, 5)) {
      float[] gradient = new float[model.layout().elements()];
      List<Double> losses = new ArrayList<>();
      for (int count : examples) {
        losses.add(model.pass(batch(network, count), gradient, new float[0]));
      }
      return losses;
    }
  }

  @Tag("slow")
  @Test
  void gradientsOfTheLastStageAreThereWhileTheFirstComputes() {
    SplitReplica two = split(Backends.fastest(1).backend(), 2, PLENTY);
    try (GraphModel model = new GraphModel(DEEP, two, PassPipeline.USUAL, 5)) {
      float[] gradient = new float[model.layout().elements()];
      List<Integer> ready = new ArrayList<>();
      Thread asks = Thread.currentThread();
      model.pass(
          batch(DEEP, EXAMPLES),
          gradient,
          new float[0],
          from -> {
            assertThat(Thread.currentThread()).isEqualTo(asks);
            ready.add(from);
          });
      assertThat(ready).endsWith(0).isSortedAccordingTo((one, other) -> other - one);
      assertThat(ready.getFirst()).isGreaterThan(gradient.length / 2);
    }
  }

  @Test
  void aFailureOfTheListenerEndsThePassOnAllDevicesAndNoMore() {
    SplitReplica two = split(new ReferenceBackend(), 2, PLENTY);
    Network network = new Mlp(4, List.of(5, 5), 3);
    try (GraphModel model = new GraphModel(network, two, PassPipeline.USUAL, 5)) {
      float[] gradient = new float[model.layout().elements()];
      Batch batch = batch(network, 3);
      double loss = model.pass(batch, gradient, new float[0]);
      assertThatThrownBy(() ->
              model.pass(
                  batch,
                  gradient,
                  new float[0],
                  _ -> {
                    throw new IllegalStateException("no more");
                  }))
          .hasMessage("no more");
      assertThat(model.pass(batch, gradient, new float[0])).isEqualTo(loss);
    }
  }

  @Tag("slow")
  @Test
  void eachDeviceHasItsShareOfTheBytes() {
    Backend backend = Backends.fastest(1).backend();
    SplitReplica three = split(backend, 3, PLENTY);
    Trained.of(DEEP, three, EXAMPLES);
    long all = three.memories().stream().mapToLong(Memory::peakBytes).sum();
    for (Memory memory : three.memories()) {
      assertThat(memory.peakBytes()).isLessThan(all / 2);
      assertThat(memory.usedBytes()).as("bytes that are left").isZero();
    }
  }

  @Tag("slow")
  @Test
  void gpusShareANetworkToo() {
    Network network = new Mlp(20, List.of(17, 9), 5);
    Trained one = Trained.of(network, new Session(InterpretedGpu.backend(), PLENTY, 1), 6);
    List<Backend> gpus = List.of(InterpretedGpu.backend(), InterpretedGpu.backend());
    Trained.of(network, new SplitReplica(gpus, PLENTY), 6).isThatOf(one);
  }
}
