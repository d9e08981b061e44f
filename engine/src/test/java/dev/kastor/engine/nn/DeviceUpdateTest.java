package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.backend.cuda.InterpretedGpu;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.optim.Adam;
import dev.kastor.engine.optim.Optimizers;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Update;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Models whose parameters stay on a device, beside the same whose host has them. */
@Tag("slow")
class DeviceUpdateTest {
  private static final Network MLP = new Mlp(6, List.of(5, 7), 3);
  private static final Network CONV = new ResNet(1, 4, 4, 3, 2, List.of(1));
  private static final double RATE = 0.05;

  static Stream<Optimizer> optimizers() {
    return Stream.concat(
        Stream.of(
            new Sgd(0, 0), new Sgd(0, 0.01), new Sgd(0.9, 0.01), new Adam(0.9, 0.99, 1e-8, 0.1)),
        Optimizers.BUILT_IN.names().stream()
            .map(Optimizers.BUILT_IN::choose)
            .map(chosen -> chosen.plugin().create(chosen.options()))
            .filter(optimizer -> optimizer.elementwise().isPresent()));
  }

  private static Batch batch(Network network, int examples, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] features = new float[examples * network.example().shape().elements()];
    for (int i = 0; i < features.length; i++) {
      features[i] = (float) random.nextDouble(-1, 1);
    }
    int[] targets = new int[examples];
    for (int i = 0; i < targets.length; i++) {
      targets[i] = random.nextInt(network.classes());
    }
    return new Batch(examples, features, targets);
  }

  /** A model and its optimizer's vectors, which a device updates or the host. */
  private static final class Training implements AutoCloseable {
    private final Optimizer optimizer;
    private final GraphModel model;
    private final SequencedMap<String, float[]> slots;
    private final boolean onDevice;
    private final DeviceUpdate update;
    private final float[] mean;
    private final float[] statistics;
    private long step;

    Training(Network network, InterpretedGpu gpu, Optimizer optimizer, boolean onDevice) {
      this.optimizer = optimizer;
      this.onDevice = onDevice;
      model = new GraphModel(network, gpu.asBackend(), 7);
      slots = optimizer.newSlots(model.layout());
      mean = new float[model.layout().elements()];
      statistics = new float[model.statistics().length];
      // Where the host updates, it has vectors of its own, of which nobody hears.
      update =
          model
              .onDevice(
                  optimizer.elementwise().orElseThrow(),
                  onDevice ? slots : optimizer.newSlots(model.layout()))
              .orElseThrow();
    }

    /** A step of so many passes; the squared norm of the mean gradient. */
    double step(int passes, long seed) {
      double norm = passes(passes, seed);
      apply();
      return norm;
    }

    double passes(int passes, long seed) {
      float[] gradient = new float[mean.length];
      float[] sum = new float[statistics.length];
      for (int pass = 0; pass < passes; pass++) {
        Batch batch = batch(model.network(), 3, seed + pass);
        if (onDevice) {
          DeviceUpdate.Passed passed = update.pass(batch, statistics, pass, passes);
          assertThat(passed.loss()).isPositive();
          assertThat(passed.squaredNorm()).isPositive();
        } else {
          model.pass(batch, gradient, statistics);
          for (int i = 0; i < mean.length; i++) {
            mean[i] = pass == 0 ? gradient[i] : mean[i] + gradient[i];
          }
        }
        for (int i = 0; i < sum.length; i++) {
          sum[i] += statistics[i];
        }
      }
      model.applyStatistics(sum);
      if (onDevice) {
        return update.squaredNorm();
      }
      double norm = 0;
      for (int i = 0; i < mean.length; i++) {
        mean[i] = passes == 1 ? mean[i] : mean[i] * (1f / passes);
        norm += (double) mean[i] * mean[i];
      }
      return norm;
    }

    void apply() {
      if (onDevice) {
        update.apply(RATE, step++);
      } else {
        optimizer.apply(new Update(model.layout(), model.parameters(), mean, slots, RATE, step++));
      }
    }

    /** A step by a gradient of the host's. */
    void step(float[] gradient) {
      if (onDevice) {
        update.write(gradient);
      } else {
        System.arraycopy(gradient, 0, mean, 0, mean.length);
      }
      apply();
    }

    Map<String, float[]> read() {
      Map<String, float[]> all = new LinkedHashMap<>();
      all.put("parameters", model.readParameters().clone());
      slots.forEach(
          (name, host) -> all.put(name, (onDevice ? update.readSlot(name) : host).clone()));
      return all;
    }

    void restore(Map<String, float[]> from) {
      float[] parameters = model.parameters();
      System.arraycopy(from.get("parameters"), 0, parameters, 0, parameters.length);
      slots.forEach((name, host) -> System.arraycopy(from.get(name), 0, host, 0, host.length));
      if (onDevice) {
        update.replaced();
      }
    }

    @Override
    public void close() {
      model.close();
    }
  }

  private static void assertSame(Training device, Training host) {
    Map<String, float[]> wanted = host.read();
    device
        .read()
        .forEach((name, values) -> assertThat(values).as(name).isEqualTo(wanted.get(name)));
  }

  @ParameterizedTest
  @MethodSource("optimizers")
  @Tag("never-retried")
  void updatesHaveTheBitsOfTheHost(Optimizer optimizer) {
    InterpretedGpu gpu = InterpretedGpu.open();
    for (Network network : List.of(MLP, CONV)) {
      try (Training device = new Training(network, gpu, optimizer, true);
          Training host = new Training(network, gpu, optimizer, false)) {
        for (int step = 0; step < 6; step++) {
          int passes = 1 + step % 3;
          double norm = device.step(passes, 10L * step);
          double wanted = host.step(passes, 10L * step);
          assertThat(norm).isCloseTo(wanted, within(1e-6 * wanted));
        }
        assertSame(device, host);
      }
    }
    assertThat(gpu.blocks()).isZero();
  }

  /** Features, targets, the rate and running statistics go there; one number a row comes back. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void aStepCopiesNeitherWeightsNorState(int passes) {
    InterpretedGpu gpu = InterpretedGpu.open();
    Network network = new Mlp(3, List.of(40, 40), 2);
    Optimizer adam = new Adam(0.9, 0.99, 1e-8, 0.1);
    try (Training training = new Training(network, gpu, adam, true)) {
      training.step(passes, 0);
      long rows = Math.ceilDiv(training.mean.length, 1024) + 1L;
      for (int step = 1; step < 4; step++) {
        long in = gpu.bytesIn();
        long out = gpu.bytesOut();
        training.step(passes, step);
        int numbers = 3 + (passes > 1 ? passes : 0);
        assertThat(gpu.bytesIn() - in).isEqualTo(4L * (passes * (9 + 3) + numbers));
        int norms = passes > 1 ? passes + 1 : 1;
        assertThat(gpu.bytesOut() - out).isLessThanOrEqualTo(4L * (passes + norms * rows));
        assertThat(gpu.bytesIn() + gpu.bytesOut() - in - out).isLessThan(training.mean.length);
      }
      long in = gpu.bytesIn();
      training.read();
      long out = gpu.bytesOut();
      training.read();
      assertThat(gpu.bytesOut()).as("a second look").isEqualTo(out);
      training.model.score(batch(network, 2, 5));
      training.step(passes, 9);
      assertThat(gpu.bytesIn() - in).as("looks change nothing").isLessThan(training.mean.length);
    }
    assertThat(gpu.blocks()).isZero();
  }

  /** Where the host updates, one copy serves all passes of a step and evaluations after it. */
  @Test
  void whatTheHostChangesIsCopiedOnce() {
    InterpretedGpu gpu = InterpretedGpu.open();
    Network network = new Mlp(3, List.of(40, 40), 2);
    try (GraphModel model = new GraphModel(network, gpu.asBackend(), 7)) {
      float[] gradient = new float[model.layout().elements()];
      model.pass(batch(network, 3, 1), gradient, new float[0]);
      long in = gpu.bytesIn();
      model.pass(batch(network, 3, 1), gradient, new float[0]);
      model.score(batch(network, 3, 1));
      assertThat(gpu.bytesIn() - in).isEqualTo(2 * 4L * (9 + 3));
      model.parameters()[0] = 1;
      model.pass(batch(network, 3, 1), gradient, new float[0]);
      model.pass(batch(network, 3, 1), gradient, new float[0]);
      assertThat(gpu.bytesIn() - in).isBetween(4L * gradient.length, 8L * gradient.length);
    }
    assertThat(gpu.blocks()).isZero();
  }

  @Test
  void gradientsAreComparedWithTheOneThatWasKept() {
    InterpretedGpu gpu = InterpretedGpu.open();
    try (Training training = new Training(MLP, gpu, new Sgd(0.9, 0), true)) {
      SplittableRandom random = new SplittableRandom(4);
      float[] first = new float[training.mean.length];
      float[] second = new float[first.length];
      double product = 0;
      double distance = 0;
      double norm = 0;
      for (int i = 0; i < first.length; i++) {
        first[i] = (float) random.nextDouble(-1, 1);
        second[i] = (float) random.nextDouble(-1, 1);
        product += (double) first[i] * second[i];
        distance += Math.pow((double) first[i] - second[i], 2);
        norm += (double) second[i] * second[i];
      }
      training.update.write(first);
      training.update.keep();
      training.update.write(second);
      DeviceUpdate.Compared compared = training.update.compared();
      assertThat(compared.product()).isCloseTo(product, within(1e-5 * norm));
      assertThat(compared.squaredDistance()).isCloseTo(distance, within(1e-5 * norm));
      assertThat(training.update.squaredNorm()).isCloseTo(norm, within(1e-5 * norm));
      second[3] = Float.NaN;
      training.update.write(second);
      assertThat(training.update.squaredNorm()).isNaN();
    }
  }

  @Test
  void hostsHaveNone() {
    try (GraphModel model = new GraphModel(MLP, new ReferenceBackend(), 7)) {
      assertThat(model.onDevice(new Sgd(0, 0), new LinkedHashMap<>())).isEmpty();
      assertThat(model.readParameters()).isSameAs(model.parameters());
    }
  }

  /** Whatever happens in whatever order, neither the host's nor the device's newest are lost. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  @Tag("never-retried")
  void noOrderOfStepsReadsAndRestoresLosesValues(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    InterpretedGpu gpu = InterpretedGpu.open();
    Optimizer optimizer = random.nextBoolean() ? new Sgd(0.9, 0.01) : new Adam(0.9, 0.9, 1e-6, 0);
    try (Training device = new Training(MLP, gpu, optimizer, true);
        Training host = new Training(MLP, gpu, optimizer, false)) {
      Map<String, float[]> saved = host.read();
      for (int i = 0; i < 50; i++) {
        switch (random.nextInt(9)) {
          case 0, 1 -> {
            int passes = random.nextInt(1, 4);
            device.step(passes, i);
            host.step(passes, i);
          }
          case 2 -> {
            float[] gradient = new float[device.mean.length];
            for (int at = 0; at < gradient.length; at++) {
              gradient[at] = (float) random.nextDouble(-1, 1);
            }
            device.step(gradient.clone());
            host.step(gradient);
          }
          case 3 -> assertSame(device, host);
          case 4 -> saved = device.read();
          case 5 -> {
            device.restore(saved);
            host.restore(saved);
          }
          case 6 -> {
            int at = random.nextInt(device.mean.length);
            device.model.parameters()[at] += 0.25f;
            host.model.parameters()[at] += 0.25f;
          }
          case 7 -> {
            // A step that comes to nothing, as one whose exchange broke.
            device.passes(1, i);
            host.passes(1, i);
          }
          case 8 -> {
            Batch batch = batch(MLP, random.nextInt(1, 9), i);
            device.model.warmUp(batch.examples());
            assertThat(device.model.score(batch)).isEqualTo(host.model.score(batch));
          }
          default -> throw new AssertionError();
        }
      }
      assertSame(device, host);
    }
    assertThat(gpu.blocks()).isZero();
  }
}
