package dev.kastor.agent.trainer;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.DeviceTraining;
import dev.kastor.engine.train.NoiseScaleEstimator;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Update;
import java.util.Arrays;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * A device of a {@link LinearModel}: arrays of its own, and operations in the order of the host's,
 * so that the same bits come out.
 */
final class LinearDevice {
  private final LinearModel model;
  private final Vector parameters;
  private int copies;

  LinearDevice(LinearModel model, float[] parameters) {
    this.model = model;
    this.parameters = new Vector(parameters);
  }

  Vector parameters() {
    return parameters;
  }

  /** Vectors that were copied, to the device or from it. */
  int copies() {
    return copies;
  }

  DeviceTraining training(Optimizer optimizer, SequencedMap<String, float[]> slots) {
    return new Training(optimizer, slots);
  }

  /** A vector of the host and of the device, of which one or both have the newest values. */
  final class Vector {
    private final float[] host;
    private final float[] device;
    private boolean hostIsNew = true;
    private boolean deviceIsNew;

    Vector(float[] host) {
      this.host = host;
      this.device = new float[host.length];
      Arrays.fill(device, Float.NaN);
    }

    float[] read() {
      if (!hostIsNew) {
        copies++;
        System.arraycopy(device, 0, host, 0, host.length);
        hostIsNew = true;
      }
      return host;
    }

    float[] change() {
      read();
      deviceIsNew = false;
      return host;
    }

    float[] onDevice() {
      if (!deviceIsNew) {
        copies++;
        System.arraycopy(host, 0, device, 0, host.length);
        deviceIsNew = true;
      }
      return device;
    }

    /** What the device is about to change; what the host has is of no use to anybody then. */
    private float[] changedOnDevice() {
      float[] values = onDevice();
      hostIsNew = false;
      Arrays.fill(host, Float.NaN);
      return values;
    }

    private void replaced() {
      hostIsNew = true;
      deviceIsNew = false;
    }
  }

  private final class Training implements DeviceTraining {
    private final Optimizer optimizer;
    private final SequencedMap<String, Vector> slots = new TreeMap<>();
    private final float[] gradient = new float[LinearModel.FEATURES];
    private final float[] sum = new float[LinearModel.FEATURES];
    private final float[] kept = new float[LinearModel.FEATURES];

    private final NoiseScaleEstimator.Successive gradients =
        new NoiseScaleEstimator.Successive() {
          @Override
          public NoiseScaleEstimator.Compared compared() {
            double product = 0;
            double distance = 0;
            for (int i = 0; i < gradient.length; i++) {
              double now = gradient[i];
              double before = kept[i];
              product += now * before;
              distance += (now - before) * (now - before);
            }
            return new NoiseScaleEstimator.Compared(product, distance);
          }

          @Override
          public void keep() {
            System.arraycopy(gradient, 0, kept, 0, kept.length);
          }
        };

    Training(Optimizer optimizer, SequencedMap<String, float[]> slots) {
      this.optimizer = optimizer;
      slots.forEach((name, host) -> this.slots.put(name, new Vector(host)));
    }

    @Override
    public Passed pass(int[] examples, float[] batchStatistics, int pass, int passes) {
      double loss = model.pass(examples, gradient, batchStatistics);
      double own = Vectors.squaredNorm(gradient);
      if (pass == 0) {
        System.arraycopy(gradient, 0, sum, 0, sum.length);
      } else {
        Vectors.add(gradient, sum, 0, sum.length);
      }
      if (passes > 1 && pass == passes - 1) {
        Vectors.scale(sum, 1f / passes);
        System.arraycopy(sum, 0, gradient, 0, sum.length);
      }
      return new Passed(loss, own);
    }

    @Override
    public double squaredNorm() {
      return Vectors.squaredNorm(gradient);
    }

    @Override
    public NoiseScaleEstimator.Successive gradients() {
      return gradients;
    }

    @Override
    public void write(float[] from) {
      System.arraycopy(from, 0, gradient, 0, gradient.length);
    }

    @Override
    public void apply(double learningRate, long step) {
      SequencedMap<String, float[]> changed = new TreeMap<>();
      slots.forEach((name, slot) -> changed.put(name, slot.changedOnDevice()));
      Layout layout = Layout.of("parameters", gradient.length);
      optimizer.apply(
          new Update(layout, parameters.changedOnDevice(), gradient, changed, learningRate, step));
    }

    @Override
    public float[] readSlot(String name) {
      return Objects.requireNonNull(slots.get(name)).read();
    }

    @Override
    public void replaced() {
      parameters.replaced();
      slots.values().forEach(Vector::replaced);
    }
  }
}
