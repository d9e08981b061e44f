package dev.kastor.agent.trainer;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Touched;
import dev.kastor.engine.train.DeviceTraining;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Trainable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Least squares on Gaussian data: small, deterministic, with a known noise. */
final class LinearModel implements Trainable {
  static final int EXAMPLES = 1000;
  static final int FEATURES = 37;

  private final float[][] inputs = new float[EXAMPLES][FEATURES];
  private final float[] targets = new float[EXAMPLES];
  private final float[] parameters = new float[FEATURES];
  private final float[] statistics = new float[3];
  private final List<Integer> warmed = new ArrayList<>();
  private final AtomicInteger badPasses = new AtomicInteger();
  private volatile float bad;
  private final AtomicInteger evaluations = new AtomicInteger();
  private volatile long delayNanos;

  /** Null where the host has the parameters. */
  private final @Nullable LinearDevice device;

  /** Form of the parameters. */
  private final Kind kind;

  /** Kind of the parameters' layout. */
  private enum Kind {
    VECTOR,
    TABLE,
    TABLE_THAT_TELLS
  }

  LinearModel() {
    this(false, Kind.VECTOR);
  }

  /**
   * A model of a table with a row for each feature, of which an example has few.
   *
   * @param tells whether it says which rows a pass reads
   */
  static LinearModel ofTable(boolean tells) {
    return new LinearModel(false, tells ? Kind.TABLE_THAT_TELLS : Kind.TABLE);
  }

  /** A model with the same bits whose parameters and optimizer's vectors a device keeps. */
  static LinearModel onDevice() {
    return new LinearModel(true, Kind.VECTOR);
  }

  private LinearModel(boolean onDevice, Kind kind) {
    this.kind = kind;
    device = onDevice ? new LinearDevice(this, parameters) : null;
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(11);
    float[] truth = new float[FEATURES];
    for (int i = 0; i < FEATURES; i++) {
      truth[i] = (float) random.nextGaussian();
    }
    for (int n = 0; n < EXAMPLES; n++) {
      for (int i = 0; i < FEATURES; i++) {
        inputs[n][i] = (float) random.nextGaussian();
        if (kind != Kind.VECTOR && random.nextInt(20) > 0) {
          inputs[n][i] = 0;
        }
        targets[n] += inputs[n][i] * truth[i];
      }
      targets[n] += (float) (0.1 * random.nextGaussian());
    }
  }

  /** The gradients of the next passes are full of this value. */
  void spoil(float value, int passes) {
    bad = value;
    badPasses.set(passes);
  }

  /** Whether a pass takes some milliseconds, as in a larger model. */
  void slow(boolean now) {
    delay(now ? Duration.ofMillis(3) : Duration.ZERO);
  }

  /** A pass takes at least so long. */
  void delay(Duration now) {
    delayNanos = now.toNanos();
  }

  /** Batch sizes it was warmed up for, in order. */
  List<Integer> warmed() {
    return warmed;
  }

  @Override
  public int trainingExamples() {
    return EXAMPLES;
  }

  @Override
  public float[] parameters() {
    return device == null ? parameters : device.parameters().change();
  }

  @Override
  public float[] readParameters() {
    return device == null ? parameters : device.parameters().read();
  }

  @Override
  public Optional<DeviceTraining> onDevice(
      Optimizer optimizer, SequencedMap<String, float[]> slots) {
    return Optional.ofNullable(device).map(device -> device.training(optimizer, slots));
  }

  /** The device; throws if there is none. */
  LinearDevice device() {
    return Objects.requireNonNull(device);
  }

  @Override
  public Layout layout() {
    return kind == Kind.VECTOR
        ? Trainable.super.layout()
        : Layout.of(List.of("table"), List.of(Shape.of(FEATURES, 1)));
  }

  @Override
  public List<Touched> touched(int[] examples) {
    return kind == Kind.TABLE_THAT_TELLS
        ? List.of(
            new Touched(
                0,
                IntStream.range(0, FEATURES)
                    .filter(row -> Arrays.stream(examples).anyMatch(n -> inputs[n][row] != 0))
                    .toArray()))
        : List.of();
  }

  @Override
  public float[] statistics() {
    return statistics;
  }

  @Override
  public double pass(int[] examples, float[] gradient, float[] batchStatistics) {
    long nanos = delayNanos;
    if (nanos > 0) {
      LockSupport.parkNanos(nanos);
    }
    Arrays.fill(gradient, badPasses.getAndUpdate(left -> Math.max(0, left - 1)) > 0 ? bad : 0);
    Arrays.fill(batchStatistics, 0);
    double loss = 0;
    float[] current = computed();
    for (int n : examples) {
      float error = error(n, current);
      loss += 0.5 * error * error;
      for (int i = 0; i < FEATURES; i++) {
        gradient[i] += error * inputs[n][i] / examples.length;
      }
      for (int i = 0; i < batchStatistics.length; i++) {
        batchStatistics[i] += inputs[n][i] / examples.length;
      }
    }
    return loss / examples.length;
  }

  @Override
  public Optional<ExampleLosses> exampleLosses() {
    return Optional.of((examples, losses) -> {
      float[] current = computed();
      for (int i = 0; i < examples.length; i++) {
        float error = error(examples[i], current);
        losses[i] = 0.5f * error * error;
      }
    });
  }

  /** The parameters where passes are computed. */
  private float[] computed() {
    return device == null ? parameters : device.parameters().onDevice();
  }

  private float error(int n, float[] current) {
    float prediction = 0;
    for (int i = 0; i < FEATURES; i++) {
      prediction += inputs[n][i] * current[i];
    }
    return prediction - targets[n];
  }

  @Override
  public void applyStatistics(float[] meanBatchStatistics) {
    for (int i = 0; i < statistics.length; i++) {
      statistics[i] += 0.1f * (meanBatchStatistics[i] - statistics[i]);
    }
  }

  @Override
  public int heldOutExamples() {
    return EXAMPLES;
  }

  /** How often it was evaluated. */
  int evaluations() {
    return evaluations.get();
  }

  @Override
  public Metric evaluate() {
    evaluations.incrementAndGet();
    double sum = 0;
    float[] current = computed();
    for (int n = 0; n < EXAMPLES; n++) {
      sum += error(n, current) * error(n, current);
    }
    return new Metric("meanSquaredError", sum / EXAMPLES, false);
  }

  @Override
  public void warmUp(int atomicBatchSize) {
    warmed.add(atomicBatchSize);
  }

  @Override
  public void close() {}
}
