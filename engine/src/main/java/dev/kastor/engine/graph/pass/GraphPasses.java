package dev.kastor.engine.graph.pass;

import dev.kastor.plugin.Registry;
import java.util.List;

/** Registry of the graph passes that Kastor ships. */
public final class GraphPasses {
  /** All of them, in the order in which those of a stage are applied. */
  public static final Registry<GraphPass> BUILT_IN =
      Registry.of("graph pass", List.of(new TableProducts()));

  private GraphPasses() {}
}
