package dev.kastor.crds.start;

/** Part of a replica's start, in the order in which they follow each other. */
public enum StartPhase {
  /** From being scheduled until the container runs: image and volumes. */
  IMAGE("image"),
  /** Until its first request: the interpreter or JVM, and what a script imports before. */
  PROCESS("process"),
  /** Until it could train: program and data loaded, kernels warm or compiled. */
  PREPARATION("preparation"),
  /** For the others: until a generation has it, and they are at the agreed step. */
  WAIT("wait"),
  /** Until it has the state of the training, from others or a checkpoint. */
  STATE("state"),
  /** Until its first step is applied. */
  FIRST_STEP("first-step");

  private final String label;

  StartPhase(String label) {
    this.label = label;
  }

  /** The name in statuses and metrics. */
  public String label() {
    return label;
  }
}
