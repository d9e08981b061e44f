package dev.kastor.engine.backend;

import dev.kastor.engine.graph.Graph;

/** A device, or a way to use one. */
public interface Backend {
  /** Its name, such as {@code cpu}. */
  String name();

  /** Plans memory and kernels once, so that running allocates nothing that lasts. */
  Executable compile(Graph graph);
}
