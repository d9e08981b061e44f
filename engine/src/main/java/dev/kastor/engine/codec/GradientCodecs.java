package dev.kastor.engine.codec;

import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.plugin.Registry;
import java.util.List;

/** Registry of the gradient codecs that Kastor ships. */
public final class GradientCodecs {
  /** All of them, in the order to show them. */
  public static final Registry<GradientCodecPlugin> BUILT_IN =
      Registry.of("gradient codec", List.of(new Bf16()));

  private GradientCodecs() {}
}
