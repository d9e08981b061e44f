package dev.kastor.engine.train;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.plugin.Options;
import dev.kastor.training.Feature;

/** Plug-in that describes and creates an update stage, which {@code spec.training} names. */
public interface UpdateStagePlugin extends Feature {
  /**
   * The stage with the values of its options.
   *
   * @param layout of the parameters
   * @throws IllegalArgumentException if it makes no sense for them; the message says why
   */
  UpdateStage create(Options options, Layout layout);
}
