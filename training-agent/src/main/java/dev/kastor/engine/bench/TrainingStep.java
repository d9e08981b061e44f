package dev.kastor.engine.bench;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.nn.Batch;
import dev.kastor.engine.nn.GraphModel;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.train.Optimizer;

/**
 * One model's step on one batch, again and again: forward, backward, update. One thread owns it.
 */
final class TrainingStep implements AutoCloseable {
  private static final long SEED = 1;
  private static final double LEARNING_RATE = 0.01;

  private final GraphModel model;
  private final Optimizer optimizer = new Sgd(0.9, 0);
  private final Batch batch;
  private final float[] gradient;
  private final float[] statistics;
  private final float[] state;
  private long steps;

  TrainingStep(BenchModel bench, Backend backend) {
    model = new GraphModel(bench.network(), backend, SEED);
    batch = bench.batch(SEED);
    gradient = new float[parameters()];
    statistics = new float[model.statistics().length];
    state = new float[optimizer.stateLength(parameters())];
  }

  /** Trained values. */
  int parameters() {
    return model.parameters().length;
  }

  /** Takes a step and returns the loss before it. */
  double run() {
    double loss = model.pass(batch, gradient, statistics);
    optimizer.apply(model.parameters(), gradient, state, LEARNING_RATE, steps++);
    model.applyStatistics(statistics);
    return loss;
  }

  @Override
  public void close() {
    model.close();
  }
}
