package dev.kastor.engine.train;

import dev.kastor.plugin.Plugin;
import dev.kastor.protocol.GradientStats;
import java.util.Optional;

/** Rule by which the learning rate follows the global batch. */
public interface LearningRateRule extends Plugin {
  /**
   * The factor on the base learning rate.
   *
   * @param scale global batch over initial batch
   * @param gradient noise statistics; empty until they are known
   */
  double factor(double scale, Optional<GradientStats> gradient);
}
