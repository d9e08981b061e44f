package dev.kastor.engine.sync;

import dev.kastor.engine.train.SyncPolicyPlugin;
import dev.kastor.plugin.Registry;
import java.util.List;

/** Registry of the policies of rounds that Kastor ships. */
public final class SyncPolicies {
  /** All of them, in the order to show them. */
  public static final Registry<SyncPolicyPlugin> BUILT_IN =
      Registry.of("sync policy", List.of(new LocalSteps(), new ParameterServers()));

  private SyncPolicies() {}
}
