package dev.kastor.engine.program;

import dev.kastor.engine.nn.Batch;
import dev.kastor.engine.nn.DeviceUpdate;
import dev.kastor.engine.nn.GraphModel;
import dev.kastor.engine.train.DeviceTraining;
import dev.kastor.engine.train.NoiseScaleEstimator;
import dev.kastor.engine.train.Optimizer;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Function;

/** Steps of a network on the device that has its parameters. */
final class GraphTraining implements DeviceTraining {
  private final DeviceUpdate update;
  private final Function<int[], Batch> gather;
  private final NoiseScaleEstimator.Successive gradients;

  private GraphTraining(DeviceUpdate update, Function<int[], Batch> gather) {
    this.update = update;
    this.gather = gather;
    this.gradients =
        new NoiseScaleEstimator.Successive() {
          @Override
          public NoiseScaleEstimator.Compared compared() {
            DeviceUpdate.Compared compared = update.compared();
            return new NoiseScaleEstimator.Compared(compared.product(), compared.squaredDistance());
          }

          @Override
          public void keep() {
            update.keep();
          }
        };
  }

  /**
   * Those of a model; empty where the host has its parameters or has to update them.
   *
   * @param gather gives the batch of training examples
   */
  static Optional<DeviceTraining> of(
      GraphModel model,
      Optimizer optimizer,
      SequencedMap<String, float[]> slots,
      Function<int[], Batch> gather) {
    return optimizer
        .elementwise()
        .flatMap(elementwise -> model.onDevice(elementwise, slots))
        .map(update -> new GraphTraining(update, gather));
  }

  @Override
  public Passed pass(int[] examples, float[] batchStatistics, int pass, int passes) {
    DeviceUpdate.Passed passed = update.pass(gather.apply(examples), batchStatistics, pass, passes);
    return new Passed(passed.loss(), passed.squaredNorm());
  }

  @Override
  public double squaredNorm() {
    return update.squaredNorm();
  }

  @Override
  public NoiseScaleEstimator.Successive gradients() {
    return gradients;
  }

  @Override
  public void write(float[] gradient) {
    update.write(gradient);
  }

  @Override
  public void apply(double learningRate, long step) {
    update.apply(learningRate, step);
  }

  @Override
  public float[] readSlot(String name) {
    return update.readSlot(name);
  }

  @Override
  public void replaced() {
    update.replaced();
  }
}
