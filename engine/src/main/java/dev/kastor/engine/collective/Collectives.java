package dev.kastor.engine.collective;

import dev.kastor.engine.train.CollectivePlugin;
import dev.kastor.plugin.Registry;
import java.util.List;

/** Registry of the collectives that Kastor ships. */
public final class Collectives {
  /** Name of the default, over which codes and all that is no gradient go as well. */
  public static final String RING = "ring";

  /** All of them, in the order to show them. */
  public static final Registry<CollectivePlugin> BUILT_IN =
      Registry.of(
          "collective", List.of(new RingCollective(), new Hierarchical(), new NcclCollective()));

  private Collectives() {}
}
