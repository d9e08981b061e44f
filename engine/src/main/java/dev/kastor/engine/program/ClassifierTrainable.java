package dev.kastor.engine.program;

import dev.kastor.engine.data.Examples;
import dev.kastor.engine.nn.Batch;
import dev.kastor.engine.nn.GraphModel;
import dev.kastor.engine.nn.Scores;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Touched;
import dev.kastor.engine.train.DeviceTraining;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Trainable;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** A network that classifies, bound to its examples. */
final class ClassifierTrainable implements Trainable {
  private final GraphModel model;
  private final Examples training;
  private final Examples heldOut;
  private final HeldOutBatches evaluation = new HeldOutBatches(250);
  private Batch buffer = new Batch(0, new float[0], new int[0]);

  ClassifierTrainable(GraphModel model, Examples training, Examples heldOut) {
    this.model = model;
    this.training = training;
    this.heldOut = heldOut;
  }

  @Override
  public int trainingExamples() {
    return training.examples();
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
    return GraphTraining.of(model, optimizer, slots, examples -> gather(training, examples));
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
    return model.pass(gather(training, examples), gradient, batchStatistics, ready);
  }

  @Override
  public Optional<ExampleLosses> exampleLosses() {
    return Optional.of((examples, losses) -> model.losses(gather(training, examples), losses));
  }

  @Override
  public List<Touched> touched(int[] examples) {
    if (model.tables().isEmpty()) {
      return List.of();
    }
    int features = model.network().example().shape().elements();
    float[] read = new float[Math.multiplyExact(examples.length, features)];
    training.gather(examples, read, new int[examples.length * model.network().positions()]);
    return model.tables().touched(read);
  }

  @Override
  public void applyStatistics(float[] meanBatchStatistics) {
    model.applyStatistics(meanBatchStatistics);
  }

  @Override
  public Metric evaluate() {
    Scores scores =
        evaluation.scores(
            model,
            heldOut.examples(),
            (from, to) -> gather(heldOut, IntStream.range(from, to).toArray()));
    return new Metric("accuracy", scores.accuracy(), true);
  }

  @Override
  public int heldOutExamples() {
    return heldOut.examples();
  }

  @Override
  public void warmUp(int atomicBatchSize) {
    model.warmUp(atomicBatchSize);
  }

  @Override
  public void close() {
    model.close();
  }

  private Batch gather(Examples set, int[] examples) {
    if (buffer.examples() != examples.length) {
      int features = model.network().example().shape().elements();
      buffer =
          new Batch(
              examples.length,
              new float[Math.multiplyExact(examples.length, features)],
              new int[Math.multiplyExact(examples.length, model.network().positions())]);
    }
    set.gather(examples, buffer.features(), buffer.targets());
    return buffer;
  }
}
