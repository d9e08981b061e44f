package dev.kastor.protocol;

/**
 * What a replica says of itself each time it polls for membership.
 *
 * <p>Sent as query parameters {@code pod, address, generation, phase, step} beside {@code wait}
 * (seconds, at most 30).
 *
 * @param pod its pod's name
 * @param address {@code host:port} of its ring listener
 * @param generation the generation it is in; 0 before its first. The answer waits for a newer one
 * @param phase what it does
 * @param step optimizer steps in its state; -1 without state
 */
public record ReplicaState(String pod, String address, long generation, Phase phase, long step) {
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

  public ReplicaState {
    Check.atLeast("generation", generation, 0);
    Check.atLeast("step", step, -1);
  }
}
