package dev.kastor.engine.tune;

import dev.kastor.engine.train.TunerPlugin;
import dev.kastor.plugin.Registry;
import java.util.List;

/** Registry of the tuners that Kastor ships. */
public final class Tuners {
  /** All of them, in the order to show them. */
  public static final Registry<TunerPlugin> BUILT_IN =
      Registry.of("tuner", List.of(new Phases(), new Plateau()));

  private Tuners() {}
}
