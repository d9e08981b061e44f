package dev.kastor.simulator.evaluate;

import dev.kastor.plugin.Chosen;
import dev.kastor.plugin.Registry;
import dev.kastor.scheduler.policy.PolicyPlugin;

/**
 * A policy that is tried as load grows, as far as its replays are affordable.
 *
 * @param policy the policy with its options
 * @param mostLoad it is not tried beyond
 */
public record TriedPolicy(Chosen<PolicyPlugin> policy, double mostLoad) {
  /**
   * Reads {@code srtf}, or {@code shockwave@1} for one that is tried up to load 1 only.
   *
   * @param known policies that may be named
   * @throws IllegalArgumentException with what is wrong and how it should look
   */
  public static TriedPolicy parse(String text, Registry<PolicyPlugin> known) {
    int at = text.indexOf('@');
    String name = at < 0 ? text : text.substring(0, at);
    Chosen<PolicyPlugin> policy = known.choose(name);
    try {
      double most = at < 0 ? Double.MAX_VALUE : Double.parseDouble(text.substring(at + 1));
      return new TriedPolicy(policy, most);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "'%s' must be a policy, or a policy and the most load it is tried at, such as shockwave@1"
              .formatted(text),
          e);
    }
  }

  boolean tries(Contender contender, WorkloadSet set) {
    return contender.policy().equals(policy) && set.load().orElse(0) <= mostLoad;
  }
}
