package dev.kastor.simulator.tick;

import dev.kastor.scheduler.goodput.PlacementShape;
import java.util.Arrays;

/** Where a job really runs; immutable. */
final class Placement {
  static final Placement NONE = new Placement("", new int[0], 0);

  private final String gpuType;
  private final int[] slotsByNode;
  private final int slots;
  private final int replicas;

  /**
   * A placement.
   *
   * @param gpuType of all its GPUs
   * @param slotsByNode GPUs on each node, in order; empty where it does not run
   * @param replicas one or more GPUs each
   */
  Placement(String gpuType, int[] slotsByNode, int replicas) {
    this.gpuType = gpuType;
    this.slotsByNode = slotsByNode;
    this.replicas = replicas;
    slots = Arrays.stream(slotsByNode).sum();
  }

  String gpuType() {
    return gpuType;
  }

  /** GPUs on each node, in order; not to be changed. */
  int[] slotsByNode() {
    return slotsByNode;
  }

  int slots() {
    return slots;
  }

  int replicas() {
    return replicas;
  }

  boolean isEmpty() {
    return slots == 0;
  }

  /** Whether step times are the same, on whatever nodes. */
  boolean sameAs(Placement other) {
    return gpuType.equals(other.gpuType) && Arrays.equals(slotsByNode, other.slotsByNode);
  }

  /** What a model is asked; a pipeline over several nodes counts as on one. */
  PlacementShape shape(String modelledType) {
    return new PlacementShape(Math.min(slotsByNode.length, replicas), replicas, modelledType);
  }

  @Override
  public String toString() {
    return "%s %s".formatted(gpuType, Arrays.toString(slotsByNode)).strip();
  }
}
