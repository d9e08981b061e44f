package dev.kastor.protocol;

/**
 * One change of membership or batch as the replicas lived it.
 *
 * @param generation the generation switched to
 * @param replicasBefore replicas before; 0 for the first start or a restart from a checkpoint
 * @param replicasAfter replicas after
 * @param cause why
 * @param pauseSeconds from the end of the last step before to the start of the first step after
 */
public record Switch(
    long generation, int replicasBefore, int replicasAfter, Cause cause, double pauseSeconds) {
  /** Why the members changed. */
  public enum Cause {
    /** The first start, or a start from a checkpoint. */
    START,
    /** An allocation or batch that the scheduler changed while the job trained. */
    RESCALE,
    /** A member died and the step was redone. */
    FAILURE
  }

  public Switch {
    Check.atLeast("switches.generation", generation, 0);
    Check.between("switches.replicasBefore", replicasBefore, 0, TelemetryReport.MAX_REPLICAS);
    Check.between("switches.replicasAfter", replicasAfter, 0, TelemetryReport.MAX_REPLICAS);
    Check.atMost("switches.pauseSeconds", pauseSeconds, Check.MOST_SECONDS);
  }
}
