package dev.kastor.engine.select;

import dev.kastor.engine.train.ExampleSelector;
import dev.kastor.engine.train.ExampleSelectorPlugin;
import dev.kastor.engine.train.Section;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import java.io.IOException;
import java.util.List;

/**
 * Selective-Backprop (Jiang et al., arXiv:1910.00762, 2019): an example is trained with probability
 * {@code percentile^beta}, where its loss stands among the newest losses.
 *
 * <p>Other than in the authors' code (angelajiang/SelectiveBackprop, 7c41937), positions are judged
 * one at a time and not batch by batch, so that the choice does not depend on how many replicas
 * look; each step judges until it has its whole batch, so that no chosen example waits for a later
 * step; and equal losses share the middle of their places: with the strict percentile of the code
 * all of them would be at 0, and none would be chosen for good. As in the code the mean loss of
 * those chosen is not weighted by their probabilities, and the first epoch is trained whole.
 */
final class SelectiveBackprop implements ExampleSelectorPlugin {
  private static final Option<Double> BETA =
      Option.number("beta", 3, "power of an example's percentile; 1/(beta + 1) are trained")
          .where(value -> value >= 0 && value <= 99, "of at least 0 and at most 99");

  private static final Option<Integer> HISTORY =
      Option.count("history", 1024, "newest losses that a loss is compared with")
          .where(value -> value >= 2 && value <= 65_536, "of at least 2 and at most 65536");

  private static final Option<Integer> WHOLE_EPOCHS =
      Option.count("wholeEpochs", 1, "first epochs of which every example is trained")
          .where(value -> value >= 0, "of at least 0");

  @Override
  public String name() {
    return "backprop";
  }

  @Override
  public String description() {
    return "Trains examples of high loss more often than others.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(BETA, HISTORY, WHOLE_EPOCHS);
  }

  @Override
  public boolean usesLosses() {
    return true;
  }

  @Override
  public ExampleSelector create(Options options, int examples, long seed) {
    return new Selector(
        options.get(BETA),
        (long) options.get(WHOLE_EPOCHS) * examples,
        new LossHistory(options.get(HISTORY)),
        new Judging(seed));
  }

  /**
   * Selector of one replica.
   *
   * @param whole first positions, which are all trained without a look
   */
  private record Selector(double beta, long whole, LossHistory history, Judging judging)
      implements ExampleSelector {
    @Override
    public List<Section> state() {
      return history.state();
    }

    @Override
    public double trained(double judged) {
      return Math.min(judged, (double) whole) + share() * Math.max(0, judged - whole);
    }

    /** The mean of percentile^beta over percentiles that are all as likely. */
    private double share() {
      return 1 / (beta + 1);
    }

    @Override
    public Choice choose(long cursor, int wanted, Losses losses) throws IOException {
      history.begin();
      return judging.choose(
          cursor,
          wanted,
          share(),
          // The same bits on all processors, as replicas may have different ones.
          position ->
              position < whole ? 1 : StrictMath.pow(history.add(losses.at(position)), beta));
    }

    @Override
    public void commit() {
      history.commit();
    }
  }
}
