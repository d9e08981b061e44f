package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.Policy;
import dev.kastor.scheduler.policy.kastor.KastorPolicy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.Function;

/** The registry of policies by name. */
public final class Policies {
  /** The policy used where none is named. */
  public static final String DEFAULT = KastorPolicy.NAME;

  private static final SequencedMap<String, Function<PolicyOptions, Policy>> FACTORIES =
      new LinkedHashMap<>();

  static {
    FACTORIES.put(KastorPolicy.NAME, options -> new KastorPolicy(options.kastor()));
    FACTORIES.put(PolluxPolicy.NAME, PolluxPolicy::new);
    FACTORIES.put(FifoPolicy.NAME, FifoPolicy::new);
    FACTORIES.put(TiresiasPolicy.NAME, TiresiasPolicy::new);
    FACTORIES.put(OptimusPolicy.NAME, OptimusPolicy::new);
    FACTORIES.put(SrtfPolicy.NAME, SrtfPolicy::new);
    FACTORIES.put(SiaPolicy.NAME, SiaPolicy::new);
    FACTORIES.put(ShockwavePolicy.NAME, ShockwavePolicy::new);
    FACTORIES.put(GavelPolicy.NAME, GavelPolicy::new);
  }

  private Policies() {}

  /** All names. */
  public static List<String> names() {
    return List.copyOf(FACTORIES.keySet());
  }

  /**
   * A fresh policy, which keeps the quotas of queues.
   *
   * @throws IllegalArgumentException if there is none of that name; the message lists all names
   */
  public static Policy create(String name, PolicyOptions options) {
    Function<PolicyOptions, Policy> factory = FACTORIES.get(name);
    if (factory == null) {
      throw new IllegalArgumentException(
          "there is no policy '%s'. Use one of: %s".formatted(name, String.join(", ", names())));
    }
    // Kastor's own has quotas among the limits of its market.
    return new QuotaPolicy(factory.apply(options), name.equals(KastorPolicy.NAME));
  }
}
