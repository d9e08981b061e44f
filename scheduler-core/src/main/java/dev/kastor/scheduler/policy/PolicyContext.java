package dev.kastor.scheduler.policy;

/**
 * Context in which a host creates a policy.
 *
 * @param seed seed of all random choices
 * @param published whether to keep what the published simulator of the policy does but an online
 *     scheduler should not
 */
public record PolicyContext(long seed, boolean published) {
  /** A context that schedules: the operator, or a replay from event to event. */
  public static PolicyContext online(long seed) {
    return new PolicyContext(seed, false);
  }

  /** A context of a replay by the rules of published simulators. */
  public static PolicyContext published(long seed) {
    return new PolicyContext(seed, true);
  }
}
