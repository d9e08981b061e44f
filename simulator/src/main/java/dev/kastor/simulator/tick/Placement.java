package dev.kastor.simulator.tick;

import dev.kastor.scheduler.PlacementShape;
import java.util.Arrays;

/**
 * Where a job really runs.
 *
 * @param gpuType of all its GPUs
 * @param slotsByNode GPUs on each node, in order; empty where it does not run
 * @param replicas one or more GPUs each
 */
record Placement(String gpuType, int[] slotsByNode, int replicas) {
  static final Placement NONE = new Placement("", new int[0], 0);

  int slots() {
    return Arrays.stream(slotsByNode).sum();
  }

  boolean isEmpty() {
    return slotsByNode.length == 0;
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
