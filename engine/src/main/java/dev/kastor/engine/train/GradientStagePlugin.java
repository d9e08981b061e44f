package dev.kastor.engine.train;

import dev.kastor.plugin.Options;
import dev.kastor.training.Feature;

/** Plug-in that describes and creates a gradient stage, which {@code spec.training} names. */
public interface GradientStagePlugin extends Feature {
  /** The stage with the values of its options. */
  GradientStage create(Options options);
}
