package dev.kastor.engine.optim;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.OptimizerPlugin;
import dev.kastor.engine.train.Update;
import dev.kastor.plugin.Option;
import java.util.List;
import java.util.SequencedMap;

/**
 * LAMB: Adam whose update of each tensor is scaled to the size of that tensor (You et al., ICLR
 * 2020, arXiv:1904.00962, algorithm 2, with the identity as scaling function).
 *
 * <p>{@code r = m' / (sqrt(v') + epsilon) + weightDecay * w; w = w - learningRate * |w| / |r| * r},
 * where {@code m'} and {@code v'} are the moments of Adam without their bias. As in the authors'
 * code, the factor {@code |w| / |r|} is 1 where one of both is 0 or the rate would be no finite
 * number, and for vectors such as biases and scales of normalisation, which do not decay either.
 *
 * @param beta1 decay of the first moment, in [0, 1)
 * @param beta2 decay of the second moment, in [0, 1)
 * @param epsilon added to the root of the second moment, above 0
 * @param weightDecay at least 0
 */
public record Lamb(double beta1, double beta2, double epsilon, double weightDecay)
    implements Optimizer {
  private static final String FIRST = "first";
  private static final String SECOND = "second";

  private static final Option<Double> EPSILON = Settings.epsilon(1e-6);

  static final OptimizerPlugin PLUGIN =
      OptimizerPlugin.of(
          "lamb",
          "Adam whose update of each tensor is scaled to the size of that tensor, for large batches.",
          List.of(Settings.MOMENTUM, Settings.BETA2, EPSILON, Settings.WEIGHT_DECAY),
          options ->
              new Lamb(
                  options.get(Settings.MOMENTUM),
                  options.get(Settings.BETA2),
                  options.get(EPSILON),
                  options.get(Settings.WEIGHT_DECAY)));

  public Lamb {
    Settings.checkMomentum(beta1);
    Settings.checkMomentum(beta2);
    Settings.checkEpsilon(epsilon);
    Settings.checkWeightDecay(weightDecay);
  }

  @Override
  public String name() {
    return "lamb";
  }

  @Override
  public SequencedMap<String, Integer> slots(Layout layout) {
    return Settings.slots(layout, FIRST, SECOND);
  }

  @Override
  public void apply(Update update) {
    float[] parameters = update.parameters();
    // The gradient is needed no more once the direction is known, so that takes its place.
    float[] direction = update.gradient();
    for (Layout.Entry entry : update.layout().entries()) {
      turn(update, entry);
      double usual = update.learningRate();
      float rate =
          Settings.isAdapted(entry)
              ? rate(usual, Settings.norm(parameters, entry), Settings.norm(direction, entry))
              : (float) usual;
      for (int i = entry.offset(); i < entry.end(); i++) {
        parameters[i] -= rate * direction[i];
      }
    }
  }

  private static float rate(double usual, double weights, double direction) {
    double scaled = usual * weights / direction;
    // A direction of a few denormals makes it infinite, and infinity times 0 is not a number.
    boolean finite = weights > 0 && direction > 0 && scaled <= Float.MAX_VALUE;
    return (float) (finite ? scaled : usual);
  }

  /** Makes the gradient of a tensor the direction in which it moves. */
  private void turn(Update update, Layout.Entry entry) {
    float[] parameters = update.parameters();
    float[] gradient = update.gradient();
    float[] firsts = update.slot(FIRST);
    float[] seconds = update.slot(SECOND);
    double time = (double) (update.step() + 1);
    float unbias1 = (float) (1 / (1 - Math.pow(beta1, time)));
    float unbias2 = (float) (1 / (1 - Math.pow(beta2, time)));
    float keep1 = (float) beta1;
    float keep2 = (float) beta2;
    float small = (float) epsilon;
    float decay = Settings.isAdapted(entry) ? (float) weightDecay : 0;
    for (int i = entry.offset(); i < entry.end(); i++) {
      float g = gradient[i];
      float first = keep1 * firsts[i] + (1 - keep1) * g;
      float second = keep2 * seconds[i] + (1 - keep2) * g * g;
      firsts[i] = first;
      seconds[i] = second;
      gradient[i] =
          first * unbias1 / ((float) Math.sqrt(second * unbias2) + small) + decay * parameters[i];
    }
  }
}
