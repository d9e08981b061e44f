package dev.kastor.operator.config;

import dev.kastor.plugin.Registry;
import dev.kastor.plugin.jar.PluginException;
import dev.kastor.plugin.jar.PluginFolder;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.registry.Policies;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Policy that the settings ask for: one of Kastor's own, or of the jars of the plug-ins folder. */
@Singleton
public final class ConfiguredPolicy {
  ConfiguredPolicy() {}

  /**
   * A factory of it.
   *
   * @throws IllegalArgumentException if there is no such policy or option, or a value is not valid;
   *     the message says what is valid
   */
  @Produces
  @Singleton
  public static PolicyFactory of(OperatorConfig config, Registry<PolicyPlugin> known) {
    try {
      return PolicyFactory.of(known.choose(config.policy()), PolicyContext.online(config.seed()));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("kastor.policy: " + e.getMessage(), e);
    }
  }

  /**
   * All policies that there are.
   *
   * @throws IllegalArgumentException if a jar cannot be used
   */
  @Produces
  @Singleton
  public static Registry<PolicyPlugin> known(OperatorConfig config) {
    try {
      return new PluginFolder(config.plugins()).addTo(Policies.BUILT_IN, PolicyPlugin.class);
    } catch (PluginException e) {
      throw new IllegalArgumentException("kastor.plugins: " + e.getMessage(), e);
    }
  }
}
