package dev.kastor.scheduler.policy;

import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import dev.kastor.plugin.Plugin;
import dev.kastor.scheduler.plan.Policy;
import java.util.List;
import java.util.function.BiFunction;

/** Plug-in that describes and creates a scheduling policy. */
public interface PolicyPlugin extends Plugin {
  /** Traits of the policy with these options. */
  PolicyTraits traits(Options options);

  /** A new policy, which shares no state with others. */
  Policy create(PolicyContext context, Options options);

  /**
   * A plug-in whose traits do not depend on its options.
   *
   * @param create creates the policy
   */
  static PolicyPlugin of(
      String name,
      String description,
      PolicyTraits traits,
      List<Option<?>> options,
      BiFunction<PolicyContext, Options, Policy> create) {
    return new PolicyPlugin() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public String description() {
        return description;
      }

      @Override
      public List<Option<?>> options() {
        return options;
      }

      @Override
      public PolicyTraits traits(Options values) {
        return traits;
      }

      @Override
      public Policy create(PolicyContext context, Options values) {
        return create.apply(context, values);
      }
    };
  }
}
