package dev.kastor.engine.train;

import dev.kastor.plugin.Options;
import dev.kastor.training.Feature;

/** Plug-in that describes and creates a selector of examples, which {@code spec.training} names. */
public interface ExampleSelectorPlugin extends Feature {
  /** Use of losses by this selector: true if it needs them. Not all models can tell losses. */
  boolean usesLosses();

  /**
   * A selector that has judged nothing yet, with the values of its options.
   *
   * @param examples of the training set
   * @param seed of the job's order of examples
   */
  ExampleSelector create(Options options, int examples, long seed);
}
