package dev.kastor.agent.pace;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Touched;
import dev.kastor.engine.train.DeviceTraining;
import dev.kastor.engine.train.NoiseScaleEstimator;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Trainable;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Model whose passes last as long as on an accelerator of a given pace; all else is the model's.
 */
public final class PacedModel implements Trainable {
  private static final Logger log = LoggerFactory.getLogger(PacedModel.class);

  private final Trainable model;
  private final Pacer pacer;

  /** A model at a pace; closing it closes that model. */
  public PacedModel(Trainable model, Pace pace) {
    this(model, new Pacer(pace, Machine.THIS, log::warn));
    log.info(
        "passes are paced: {} s, and {} s an example", pace.passSeconds(), pace.exampleSeconds());
  }

  PacedModel(Trainable model, Pacer pacer) {
    this.model = model;
    this.pacer = pacer;
  }

  @Override
  public double pass(int[] examples, float[] gradient, float[] batchStatistics) {
    pacer.begin(examples.length);
    double loss = model.pass(examples, gradient, batchStatistics);
    pacer.end();
    return loss;
  }

  @Override
  public double pass(int[] examples, float[] gradient, float[] batchStatistics, IntConsumer ready) {
    pacer.begin(examples.length);
    double loss = model.pass(examples, gradient, batchStatistics, ready);
    pacer.end();
    return loss;
  }

  @Override
  public Optional<DeviceTraining> onDevice(
      Optimizer optimizer, SequencedMap<String, float[]> slots) {
    return model.onDevice(optimizer, slots).map(device -> new PacedDevice(device, pacer));
  }

  @Override
  public int trainingExamples() {
    return model.trainingExamples();
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
  public Layout layout() {
    return model.layout();
  }

  @Override
  public float[] statistics() {
    return model.statistics();
  }

  @Override
  public Optional<ExampleLosses> exampleLosses() {
    return model.exampleLosses();
  }

  @Override
  public List<Touched> touched(int[] examples) {
    return model.touched(examples);
  }

  @Override
  public void applyStatistics(float[] meanBatchStatistics) {
    model.applyStatistics(meanBatchStatistics);
  }

  @Override
  public Metric evaluate() {
    return model.evaluate();
  }

  @Override
  public int heldOutExamples() {
    return model.heldOutExamples();
  }

  @Override
  public void warmUp(int atomicBatchSize) {
    model.warmUp(atomicBatchSize);
  }

  @Override
  public void close() {
    model.close();
  }

  /** Training on a device, whose passes are paced. */
  private record PacedDevice(DeviceTraining device, Pacer pacer) implements DeviceTraining {
    @Override
    public Passed pass(int[] examples, float[] batchStatistics, int pass, int passes) {
      pacer.begin(examples.length);
      Passed passed = device.pass(examples, batchStatistics, pass, passes);
      pacer.end();
      return passed;
    }

    @Override
    public double squaredNorm() {
      return device.squaredNorm();
    }

    @Override
    public NoiseScaleEstimator.Successive gradients() {
      return device.gradients();
    }

    @Override
    public void write(float[] gradient) {
      device.write(gradient);
    }

    @Override
    public void apply(double learningRate, long step) {
      device.apply(learningRate, step);
    }

    @Override
    public float[] readSlot(String name) {
      return device.readSlot(name);
    }

    @Override
    public void replaced() {
      device.replaced();
    }
  }
}
