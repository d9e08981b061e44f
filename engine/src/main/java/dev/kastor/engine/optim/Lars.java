package dev.kastor.engine.optim;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.OptimizerPlugin;
import dev.kastor.engine.train.Update;
import dev.kastor.plugin.Option;
import java.util.List;
import java.util.SequencedMap;

/**
 * LARS: gradient descent with momentum and a learning rate of each tensor by its size (You, Gitman
 * and Ginsburg, 2017, arXiv:1708.03888, algorithm 1).
 *
 * <p>{@code l = trust * |w| / (|g| + weightDecay * |w|); v = momentum * v + l * (g + weightDecay *
 * w); w = w - learningRate * v}. Other than in the paper the learning rate is outside of {@code v},
 * as in {@link Sgd}. As in the implementations for large batches, {@code l} is 1 where one of both
 * norms is 0 or it is no finite number, and for vectors such as biases and scales of normalisation,
 * which do not decay either.
 *
 * @param momentum in [0, 1)
 * @param weightDecay at least 0
 * @param trust above 0
 */
public record Lars(double momentum, double weightDecay, double trust) implements Optimizer {
  private static final String VELOCITY = "velocity";

  private static final Option<Double> TRUST =
      Option.number("trust", 0.001, "share of a tensor's size by which it moves at rate 1")
          .where(value -> value > 0 && value <= 1, "above 0 and of at most 1");

  static final OptimizerPlugin PLUGIN =
      OptimizerPlugin.of(
          "lars",
          "Gradient descent with momentum and a learning rate of each tensor by its size, for large batches.",
          List.of(Settings.MOMENTUM, Settings.WEIGHT_DECAY, TRUST),
          options ->
              new Lars(
                  options.get(Settings.MOMENTUM),
                  options.get(Settings.WEIGHT_DECAY),
                  options.get(TRUST)));

  public Lars {
    Settings.checkMomentum(momentum);
    Settings.checkWeightDecay(weightDecay);
    if (!(trust > 0)) {
      throw new IllegalArgumentException("trust must be above 0 but is %s.".formatted(trust));
    }
  }

  @Override
  public String name() {
    return "lars";
  }

  @Override
  public SequencedMap<String, Integer> slots(Layout layout) {
    return Settings.slots(layout, VELOCITY);
  }

  @Override
  public void apply(Update update) {
    float[] parameters = update.parameters();
    float[] gradient = update.gradient();
    float[] velocities = update.slot(VELOCITY);
    float rate = (float) update.learningRate();
    float keep = (float) momentum;
    for (Layout.Entry entry : update.layout().entries()) {
      boolean adapted = Settings.isAdapted(entry);
      float decay = adapted ? (float) weightDecay : 0;
      float local =
          adapted ? local(Settings.norm(parameters, entry), Settings.norm(gradient, entry)) : 1;
      for (int i = entry.offset(); i < entry.end(); i++) {
        float velocity = keep * velocities[i] + local * (gradient[i] + decay * parameters[i]);
        velocities[i] = velocity;
        parameters[i] -= rate * velocity;
      }
    }
  }

  private float local(double weights, double gradient) {
    double local = trust * weights / (gradient + weightDecay * weights);
    // A gradient of a few denormals makes it infinite, and infinity times 0 is not a number.
    return weights > 0 && gradient > 0 && local <= Float.MAX_VALUE ? (float) local : 1;
  }
}
