package dev.kastor.e2e.program;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Touched;
import dev.kastor.engine.train.DeviceTraining;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Trainable;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.IntConsumer;

/** Model bound to its data that waits for the examples of each pass, and is another one besides. */
final class SlowTrainable implements Trainable {
  private final Trainable other;
  private final IntConsumer store;

  /**
   * Such a model.
   *
   * @param store returns when it has given so many examples
   */
  SlowTrainable(Trainable other, IntConsumer store) {
    this.other = other;
    this.store = store;
  }

  @Override
  public double pass(int[] examples, float[] gradient, float[] batchStatistics) {
    store.accept(examples.length);
    return other.pass(examples, gradient, batchStatistics);
  }

  @Override
  public double pass(int[] examples, float[] gradient, float[] batchStatistics, IntConsumer ready) {
    store.accept(examples.length);
    return other.pass(examples, gradient, batchStatistics, ready);
  }

  @Override
  public int trainingExamples() {
    return other.trainingExamples();
  }

  @Override
  public float[] parameters() {
    return other.parameters();
  }

  @Override
  public float[] readParameters() {
    return other.readParameters();
  }

  @Override
  public Optional<DeviceTraining> onDevice(
      Optimizer optimizer, SequencedMap<String, float[]> slots) {
    return other.onDevice(optimizer, slots);
  }

  @Override
  public Layout layout() {
    return other.layout();
  }

  @Override
  public float[] statistics() {
    return other.statistics();
  }

  @Override
  public Optional<ExampleLosses> exampleLosses() {
    return other.exampleLosses();
  }

  @Override
  public List<Touched> touched(int[] examples) {
    return other.touched(examples);
  }

  @Override
  public void applyStatistics(float[] meanBatchStatistics) {
    other.applyStatistics(meanBatchStatistics);
  }

  @Override
  public Metric evaluate() {
    return other.evaluate();
  }

  @Override
  public int heldOutExamples() {
    return other.heldOutExamples();
  }

  @Override
  public void warmUp(int atomicBatchSize) {
    other.warmUp(atomicBatchSize);
  }

  @Override
  public void close() {
    other.close();
  }
}
