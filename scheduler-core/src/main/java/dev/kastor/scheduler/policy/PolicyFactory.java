package dev.kastor.scheduler.policy;

import dev.kastor.plugin.Chosen;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.fit.FitPolicy;
import dev.kastor.scheduler.policy.quota.QuotaPolicy;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Factory of equal policies for a host that needs one or several: each is new and remembers what it
 * saw itself.
 *
 * @param name what messages and results call the policy: its name with what differs from its
 *     default options
 * @param traits traits of the policies
 * @param source creates one
 */
public record PolicyFactory(String name, PolicyTraits traits, Supplier<Policy> source) {
  /**
   * Policies of a plug-in with options, which keep the quotas of queues and put replicas on no node
   * that is closed to their job.
   */
  public static PolicyFactory of(Chosen<PolicyPlugin> chosen, PolicyContext context) {
    PolicyTraits traits = chosen.plugin().traits(chosen.options());
    return new PolicyFactory(
        chosen.toString(),
        traits,
        () ->
            new FitPolicy(
                new QuotaPolicy(
                    chosen.plugin().create(context, chosen.options()),
                    traits.control(),
                    traits.keepsQuotas()),
                traits.control()));
  }

  /** A new policy. */
  public Policy create() {
    return source.get();
  }

  /** The same with each policy wrapped into another one. */
  public PolicyFactory map(UnaryOperator<Policy> wrap) {
    return new PolicyFactory(name, traits, () -> wrap.apply(source.get()));
  }
}
