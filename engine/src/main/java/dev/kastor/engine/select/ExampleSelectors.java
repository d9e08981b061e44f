package dev.kastor.engine.select;

import dev.kastor.engine.train.ExampleSelectorPlugin;
import dev.kastor.plugin.Registry;
import java.util.List;

/** Registry of the selectors of examples that Kastor ships. */
public final class ExampleSelectors {
  /** All of them, in the order to show them. */
  public static final Registry<ExampleSelectorPlugin> BUILT_IN =
      Registry.of("example selector", List.of(new RandomShare(), new SelectiveBackprop()));

  private ExampleSelectors() {}
}
