package dev.kastor.engine.select;

import dev.kastor.engine.train.ExampleSelector;
import dev.kastor.engine.train.ExampleSelectorPlugin;
import dev.kastor.engine.train.Section;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import java.io.IOException;
import java.util.List;

/**
 * Random share of the examples: what a selector that looks at losses has to be compared with, at
 * the same share.
 */
final class RandomShare implements ExampleSelectorPlugin {
  private static final Option<Double> KEEP =
      Option.number("keep", 0.25, "share of the examples that are trained")
          .where(value -> value >= 0.001 && value <= 1, "of at least 0.001 and at most 1");

  @Override
  public String name() {
    return "random";
  }

  @Override
  public String description() {
    return "Trains a random share of the examples.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(KEEP);
  }

  @Override
  public boolean usesLosses() {
    return false;
  }

  @Override
  public ExampleSelector create(Options options, int examples, long seed) {
    return new Selector(options.get(KEEP), new Judging(seed));
  }

  private record Selector(double keep, Judging judging) implements ExampleSelector {
    @Override
    public List<Section> state() {
      return List.of();
    }

    @Override
    public double trained(double judged) {
      return keep * judged;
    }

    @Override
    public Choice choose(long cursor, int wanted, Losses losses) throws IOException {
      return judging.choose(cursor, wanted, keep, _ -> keep);
    }

    @Override
    public void commit() {
      // A draw depends on its position alone.
    }
  }
}
