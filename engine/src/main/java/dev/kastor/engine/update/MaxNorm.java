package dev.kastor.engine.update;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Update;
import dev.kastor.engine.train.UpdateStage;
import dev.kastor.engine.train.UpdateStagePlugin;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import java.util.List;

/**
 * Max-norm constraint: the weights into each unit are at most so long (Srivastava et al., JMLR
 * 2014, section 5.1).
 *
 * <p>After each update a longer vector {@code w} is projected onto the ball: {@code w = w * norm /
 * |w|}. The units of a matrix or kernel are its last axis, as the layers of Kastor have them; a
 * table of embeddings counts as the matrix of a dense layer over its rows. Vectors such as biases
 * and scales of normalisation have no bound. The default is the lower of the two values that the
 * paper calls typical (appendix A.3). The optimizer's state stays as it is.
 */
final class MaxNorm implements UpdateStagePlugin {
  private static final Option<Double> NORM =
      Option.number("norm", 3, "largest Euclidean norm of the weights into a unit")
          .where(value -> value > 0 && value <= Float.MAX_VALUE, "above 0");

  @Override
  public String name() {
    return "max-norm";
  }

  @Override
  public String description() {
    return "Shortens the weights into each unit that are longer than a norm to that norm.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(NORM);
  }

  @Override
  public UpdateStage create(Options options, Layout layout) {
    List<Layout.Entry> bounded =
        layout.entries().stream().filter(entry -> entry.shape().rank() > 1).toList();
    if (bounded.isEmpty()) {
      throw new IllegalArgumentException(
          "the model has no matrix or kernel, and vectors have no bound");
    }
    double most = options.get(NORM);
    return update -> bounded.forEach(entry -> project(update, entry, most));
  }

  private static void project(Update update, Layout.Entry entry, double most) {
    float[] parameters = update.parameters();
    int units = entry.shape().extent(-1);
    double[] squares = new double[units];
    for (int row = entry.offset(); row < entry.end(); row += units) {
      for (int unit = 0; unit < units; unit++) {
        squares[unit] += (double) parameters[row + unit] * parameters[row + unit];
      }
    }
    float[] factors = new float[units];
    for (int unit = 0; unit < units; unit++) {
      factors[unit] = (float) Math.min(1, most / Math.sqrt(squares[unit]));
    }
    for (int row = entry.offset(); row < entry.end(); row += units) {
      for (int unit = 0; unit < units; unit++) {
        parameters[row + unit] *= factors[unit];
      }
    }
  }
}
