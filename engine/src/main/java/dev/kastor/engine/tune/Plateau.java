package dev.kastor.engine.tune;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.Tuner;
import dev.kastor.engine.train.TunerPlugin;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import java.util.List;

/**
 * Reduction of the learning rate where the training loss has stopped falling.
 *
 * <p>Other than rules that count steps or epochs, it compares mean losses over windows of progress:
 * a window lasts {@code patience} scale-invariant steps, and each of its examples counts the same.
 * So it does not depend on batches and on the number of replicas when the rate is lowered.
 */
final class Plateau implements TunerPlugin {
  private static final Option<Double> FACTOR =
      Option.number("factor", 0.5, "what the learning rate is multiplied by on a plateau")
          .where(value -> value > 0 && value < 1, "above 0 and below 1");

  private static final Option<Integer> PATIENCE =
      Option.count("patience", 1000, "steps at the initial batch over whose losses a mean is taken")
          .where(value -> value >= 1, "of at least 1");

  private static final Option<Double> THRESHOLD =
      Option.number("threshold", 0.001, "share by which a mean must be below the lowest before it")
          .where(value -> value >= 0 && value < 1, "of at least 0 and below 1");

  private static final Option<Double> LEAST =
      Option.number("least", 0.001, "bound of the factor on the learning rate")
          .where(value -> value > 0 && value <= 1, "above 0 and at most 1");

  @Override
  public String name() {
    return "plateau";
  }

  @Override
  public String description() {
    return "Lowers the learning rate where the training loss has stopped falling.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(FACTOR, PATIENCE, THRESHOLD, LEAST);
  }

  @Override
  public Tuner create(Options options) {
    return new Watcher(
        options.get(FACTOR), options.get(PATIENCE), options.get(THRESHOLD), options.get(LEAST));
  }

  /** Watcher of the losses, of one replica. */
  private static final class Watcher implements Tuner {
    private final double reduction;
    private final int patience;
    private final double threshold;
    private final double least;
    private final double[] factor = {1};
    private final double[] lowest = {Double.POSITIVE_INFINITY};

    /** Begin of the current window in scale-invariant steps. */
    private final double[] begin = {0};

    /** Examples of the current window. */
    private final long[] examples = {0};

    /** Sum of the losses of these examples. */
    private final double[] losses = {0};

    Watcher(double reduction, int patience, double threshold, double least) {
      this.reduction = reduction;
      this.patience = patience;
      this.threshold = threshold;
      this.least = least;
    }

    @Override
    public List<Section> state() {
      return List.of(
          Section.of("factor", factor),
          Section.of("lowest", lowest),
          Section.of("begin", begin),
          Section.of("examples", examples),
          Section.of("losses", losses));
    }

    @Override
    public double factor() {
      return factor[0];
    }

    @Override
    public void applied(AppliedStep step) {
      examples[0] += step.globalBatchSize();
      losses[0] += step.globalBatchSize() * step.loss();
      double done = step.progress().scaleInvariantSteps();
      if (done - begin[0] < patience) {
        return;
      }
      judge(losses[0] / examples[0]);
      // Not where this one really ended: windows of large batches would be longer.
      begin[0] = Math.floor(done / patience) * patience;
      examples[0] = 0;
      losses[0] = 0;
    }

    /** A mean that is no number has not fallen. */
    private void judge(double mean) {
      double bound =
          Double.isInfinite(lowest[0]) ? lowest[0] : lowest[0] - threshold * Math.abs(lowest[0]);
      if (mean < bound) {
        lowest[0] = mean;
      } else {
        factor[0] = Math.max(least, factor[0] * reduction);
      }
    }
  }
}
