package dev.kastor.engine.update;

import dev.kastor.engine.train.UpdateStagePlugin;
import dev.kastor.plugin.Registry;
import java.util.List;

/** Registry of the update stages that Kastor ships. */
public final class UpdateStages {
  /** All of them, in the order to show them. */
  public static final Registry<UpdateStagePlugin> BUILT_IN =
      Registry.of("update stage", List.of(new MaxNorm()));

  private UpdateStages() {}
}
