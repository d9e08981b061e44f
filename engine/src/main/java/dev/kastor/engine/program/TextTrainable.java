package dev.kastor.engine.program;

import dev.kastor.engine.data.Text;
import dev.kastor.engine.nn.Batch;
import dev.kastor.engine.nn.GraphModel;
import dev.kastor.engine.nn.Scores;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.DeviceTraining;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Trainable;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.IntConsumer;

/**
 * A byte language model bound to a text.
 *
 * <p>Training example i is the window that begins at byte {@code i * stride}. The held-out part is
 * scored in windows side by side, each without what came before it, which is harder than reading
 * on.
 */
final class TextTrainable implements Trainable {
  private final GraphModel model;
  private final Text text;
  private final int context;
  private final int stride;
  private final int examples;
  private final HeldOutBatches evaluation = new HeldOutBatches(32);
  private Batch buffer = new Batch(0, new float[0], new int[0]);

  TextTrainable(GraphModel model, Text text, int context, int stride) {
    this.model = model;
    this.text = text;
    this.context = context;
    this.stride = stride;
    this.examples = examples(text.training().length, context, stride);
  }

  /** How many examples a text of so many bytes gives. */
  static int examples(int bytes, int context, int stride) {
    return (bytes - 1 - context) / stride + 1;
  }

  @Override
  public int trainingExamples() {
    return examples;
  }

  @Override
  public Layout layout() {
    return model.layout();
  }

  @Override
  public float[] parameters() {
    return model.parameters();
  }

  @Override
  public float[] readParameters() {
    return model.readParameters();
  }

  @Override
  public Optional<DeviceTraining> onDevice(
      Optimizer optimizer, SequencedMap<String, float[]> slots) {
    return GraphTraining.of(model, optimizer, slots, examples -> gather(examples));
  }

  @Override
  public float[] statistics() {
    return model.statistics();
  }

  @Override
  public double pass(int[] examples, float[] gradient, float[] batchStatistics) {
    return pass(examples, gradient, batchStatistics, _ -> {});
  }

  @Override
  public double pass(int[] examples, float[] gradient, float[] batchStatistics, IntConsumer ready) {
    return model.pass(gather(examples), gradient, batchStatistics, ready);
  }

  @Override
  public Optional<ExampleLosses> exampleLosses() {
    return Optional.of((examples, losses) -> model.losses(gather(examples), losses));
  }

  @Override
  public void applyStatistics(float[] meanBatchStatistics) {
    model.applyStatistics(meanBatchStatistics);
  }

  @Override
  public Metric evaluate() {
    byte[] heldOut = text.heldOut();
    Scores scores =
        evaluation.scores(
            model,
            heldOutExamples(),
            (from, to) -> {
              Batch batch = buffer(to - from);
              for (int i = from; i < to; i++) {
                fill(batch, i - from, heldOut, i * context);
              }
              return batch;
            });
    return new Metric("bitsPerByte", scores.meanLoss() / Math.log(2), false);
  }

  @Override
  public int heldOutExamples() {
    return (text.heldOut().length - 1) / context;
  }

  @Override
  public void warmUp(int atomicBatchSize) {
    model.warmUp(atomicBatchSize);
  }

  @Override
  public void close() {
    model.close();
  }

  private Batch gather(int[] examples) {
    Batch batch = buffer(examples.length);
    for (int i = 0; i < examples.length; i++) {
      fill(batch, i, text.training(), examples[i] * stride);
    }
    return batch;
  }

  private Batch buffer(int count) {
    if (buffer.examples() != count) {
      int tokens = Math.multiplyExact(count, context);
      buffer = new Batch(count, new float[tokens], new int[tokens]);
    }
    return buffer;
  }

  private void fill(Batch batch, int row, byte[] bytes, int from) {
    for (int i = 0; i < context; i++) {
      batch.features()[row * context + i] = bytes[from + i] & 0xff;
      batch.targets()[row * context + i] = bytes[from + i + 1] & 0xff;
    }
  }
}
