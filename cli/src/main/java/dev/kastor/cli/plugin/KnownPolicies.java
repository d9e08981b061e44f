package dev.kastor.cli.plugin;

import dev.kastor.plugin.Registry;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.registry.Policies;
import java.util.Iterator;

/** Policies that commands take: Kastor's own and those of the user's jars. */
public final class KnownPolicies {
  private KnownPolicies() {}

  public static Registry<PolicyPlugin> read() {
    return PluginJars.registry(Policies.BUILT_IN, PolicyPlugin.class);
  }

  /** Names for help and completion. */
  public static final class Names implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return PluginJars.names(Policies.BUILT_IN, PolicyPlugin.class).iterator();
    }
  }
}
