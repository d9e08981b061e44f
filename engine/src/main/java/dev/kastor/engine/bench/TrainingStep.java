package dev.kastor.engine.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.cpu.CpuBackend;
import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.nn.Batch;
import dev.kastor.engine.nn.GraphModel;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.profile.Profiler;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Update;
import java.io.IOException;
import java.util.SequencedMap;
import java.util.function.IntConsumer;

/**
 * One model's step on one batch, again and again: forward, backward, update. One thread owns it.
 */
public final class TrainingStep implements AutoCloseable {
  private static final long SEED = 1;
  private static final double LEARNING_RATE = 0.01;

  private final GraphModel model;
  private final Optimizer optimizer = new Sgd(0.9, 0);
  private final Batch batch;
  private final float[] gradient;
  private final float[] statistics;
  private final SequencedMap<String, float[]> slots;
  private long steps;

  TrainingStep(BenchModel bench, Backend backend) {
    model = new GraphModel(bench.network(), backend, SEED);
    batch = bench.batch(SEED);
    gradient = new float[parameters()];
    statistics = new float[model.statistics().length];
    slots = optimizer.newSlots(model.layout());
  }

  /** What happens to a gradient before it is applied. */
  public interface Exchange {
    /** Makes it that of all replicas. */
    void happen() throws IOException;
  }

  /**
   * A step of the fastest backend that there is.
   *
   * @param model as JSON; see {@link BenchModel}
   */
  public static TrainingStep of(String model, int threads) throws IOException {
    return new TrainingStep(
        BenchModel.of(new ObjectMapper().readTree(model)), Backends.fastest(threads).backend());
  }

  /** The same where a profiler hears of its kernels; the CPU's, as they must be there. */
  public static TrainingStep profiled(String model, int threads, Profiler profiler)
      throws IOException {
    BenchModel read = BenchModel.of(new ObjectMapper().readTree(model));
    return switch (CpuBackend.load(threads)) {
      case CpuBackend.Availability.Available available ->
          new TrainingStep(read, available.backend().observedBy(profiler));
      case CpuBackend.Availability.Absent absent -> throw new IOException(absent.reason());
    };
  }

  /** Trained values. */
  int parameters() {
    return model.parameters().length;
  }

  /** The gradient of the step that is being taken; live. */
  public float[] gradient() {
    return gradient;
  }

  /** Takes a step and returns the loss before it. */
  double run() throws IOException {
    return run(() -> {});
  }

  /** Takes a step together with others and returns the loss before it. */
  public double run(Exchange exchange) throws IOException {
    return run(_ -> {}, exchange);
  }

  /**
   * The same where the exchange can begin before the pass ends.
   *
   * @param ready told from which element on the gradient is there, again and again, down to 0
   * @param exchange ends it
   */
  public double run(IntConsumer ready, Exchange exchange) throws IOException {
    double loss = model.pass(batch, gradient, statistics, ready);
    exchange.happen();
    optimizer.apply(
        new Update(model.layout(), model.parameters(), gradient, slots, LEARNING_RATE, steps++));
    model.applyStatistics(statistics);
    return loss;
  }

  @Override
  public void close() {
    model.close();
  }
}
