package dev.kastor.engine.train;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.exec.GraphExecutor;
import dev.kastor.plugin.Options;
import dev.kastor.training.Feature;
import java.util.List;

/**
 * Plug-in that says how the devices of a replica share its passes, which {@code spec.training}
 * names.
 */
public interface DevicesPlugin extends Feature {
  /**
   * How many devices it uses of those that a replica has slots for.
   *
   * @throws IllegalArgumentException if the slots are too few; the message says how many it needs
   */
  int devices(int slots);

  /**
   * An executor of passes.
   *
   * @param backends one for each device that is used, which may be the same
   */
  GraphExecutor executor(List<Backend> backends, Options options);
}
