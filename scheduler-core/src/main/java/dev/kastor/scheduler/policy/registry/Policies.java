package dev.kastor.scheduler.policy.registry;

import dev.kastor.plugin.Chosen;
import dev.kastor.plugin.Registry;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.scheduler.policy.fifo.FifoPolicy;
import dev.kastor.scheduler.policy.gavel.GavelPolicy;
import dev.kastor.scheduler.policy.kastor.KastorPlugin;
import dev.kastor.scheduler.policy.optimus.OptimusPolicy;
import dev.kastor.scheduler.policy.pollux.PolluxPolicy;
import dev.kastor.scheduler.policy.shockwave.ShockwavePolicy;
import dev.kastor.scheduler.policy.sia.SiaPolicy;
import dev.kastor.scheduler.policy.srtf.SrtfPolicy;
import dev.kastor.scheduler.policy.tiresias.TiresiasPolicy;
import java.util.List;

/** Registry of the policies that Kastor ships. */
public final class Policies {
  /** Name of the policy that is used where none is named. */
  public static final String DEFAULT = KastorPlugin.NAME;

  /** All of them; a host adds those of its plug-in jars. */
  public static final Registry<PolicyPlugin> BUILT_IN =
      Registry.of(
          "policy",
          List.of(
              new KastorPlugin(),
              PolluxPolicy.PLUGIN,
              FifoPolicy.PLUGIN,
              TiresiasPolicy.PLUGIN,
              OptimusPolicy.PLUGIN,
              SrtfPolicy.PLUGIN,
              SiaPolicy.PLUGIN,
              ShockwavePolicy.PLUGIN,
              GavelPolicy.PLUGIN));

  private Policies() {}

  /** Names of all. */
  public static List<String> names() {
    return BUILT_IN.names();
  }

  /**
   * What a text such as {@code kastor:hold=1000} chooses.
   *
   * @throws IllegalArgumentException if there is no such policy or option, or a value is not valid;
   *     the message says what is
   */
  public static Chosen<PolicyPlugin> choose(String text) {
    return BUILT_IN.choose(text);
  }

  /** Policies of a text such as {@code kastor:hold=1000}; see {@link #choose}. */
  public static PolicyFactory factory(String text, PolicyContext context) {
    return PolicyFactory.of(choose(text), context);
  }

  /** A new policy of a text such as {@code kastor:hold=1000}; see {@link #choose}. */
  public static Policy create(String text, PolicyContext context) {
    return factory(text, context).create();
  }

  /** Traits of a policy with its options. */
  public static PolicyTraits traits(Chosen<PolicyPlugin> chosen) {
    return chosen.plugin().traits(chosen.options());
  }
}
