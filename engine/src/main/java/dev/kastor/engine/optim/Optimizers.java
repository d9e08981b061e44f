package dev.kastor.engine.optim;

import dev.kastor.engine.train.OptimizerPlugin;
import dev.kastor.plugin.Registry;
import java.util.List;

/** Registry of the optimizers that Kastor ships. */
public final class Optimizers {
  /** All of them, in the order to show them. */
  public static final Registry<OptimizerPlugin> BUILT_IN =
      Registry.of("optimizer", List.of(Sgd.PLUGIN, Adam.PLUGIN, Lars.PLUGIN, Lamb.PLUGIN));

  private Optimizers() {}
}
