package dev.kastor.engine.train;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.plugin.Options;
import dev.kastor.training.Feature;

/** Plug-in that describes and creates a gradient codec, which {@code spec.training} names. */
public interface GradientCodecPlugin extends Feature {
  /**
   * A codec that has encoded nothing yet, with the values of its options.
   *
   * @param layout of the parameters
   */
  GradientCodec create(Options options, Layout layout);
}
