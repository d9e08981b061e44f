package dev.kastor.simulator.evaluate;

import dev.kastor.scheduler.policy.Policies;
import dev.kastor.scheduler.policy.PolicyOptions;

/**
 * A policy that is tried as load grows, as far as its replays are affordable.
 *
 * @param name in the registry
 * @param mostLoad it is not tried beyond
 */
public record TriedPolicy(String name, double mostLoad) {
  /**
   * Reads {@code srtf}, or {@code shockwave@1} for one that is tried up to load 1 only.
   *
   * @throws IllegalArgumentException with what is wrong and how it should look
   */
  public static TriedPolicy parse(String text) {
    int at = text.indexOf('@');
    String name = at < 0 ? text : text.substring(0, at);
    var _ = Policies.create(name, PolicyOptions.faithful(0));
    try {
      double most = at < 0 ? Double.MAX_VALUE : Double.parseDouble(text.substring(at + 1));
      return new TriedPolicy(name, most);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "'%s' must be a policy, or a policy and the most load it is tried at, such as shockwave@1"
              .formatted(text),
          e);
    }
  }

  boolean tries(Contender contender, WorkloadSet set) {
    return contender.policy().equals(name) && set.load().orElse(0) <= mostLoad;
  }
}
