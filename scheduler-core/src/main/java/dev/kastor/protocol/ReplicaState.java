package dev.kastor.protocol;

/**
 * What a replica says of itself each time it polls for membership.
 *
 * <p>Sent as query parameters {@code pod, address, generation, phase, step, waiting} beside {@code
 * wait} (seconds, at most 30).
 *
 * @param pod its pod's name
 * @param address {@code host:port} of its ring listener
 * @param generation the generation it is in; 0 before its first. The answer waits for a newer one
 * @param phase what it does
 * @param step optimizer steps in its state; -1 without state
 * @param waiting in training: whether it waits for the other members rather than computes. Where
 *     all others wait for long, the one that does not is the one that hangs
 */
public record ReplicaState(
    String pod, String address, long generation, Phase phase, long step, boolean waiting) {
  /** What a replica does. */
  public enum Phase {
    /** Loading data and warming up kernels; must not be made a member yet. */
    STARTING,
    /** Warm and listening; may become a member. */
    READY,
    /** A member in training. */
    TRAINING,
    /** A member whose ring broke; it waits for the next generation. */
    BROKEN
  }

  /** A replica that waits for nobody. */
  public ReplicaState(String pod, String address, long generation, Phase phase, long step) {
    this(pod, address, generation, phase, step, false);
  }

  public ReplicaState {
    Check.atLeast("generation", generation, 0);
    Check.between("step", step, -1, Check.MOST_COUNTED);
  }
}
