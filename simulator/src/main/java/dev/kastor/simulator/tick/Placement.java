package dev.kastor.simulator.tick;

import dev.kastor.scheduler.goodput.PlacementShape;
import java.util.Arrays;

/** Where a job really runs; immutable. */
final class Placement {
  static final Placement NONE = new Placement("", new int[0], 1);

  private final String gpuType;
  private final int[] replicasByNode;
  private final int replicas;
  private final int slotsPerReplica;

  /**
   * A placement.
   *
   * @param gpuType of all its GPUs
   * @param replicasByNode replicas on each node, in order; empty where it does not run
   * @param slotsPerReplica GPUs of each replica
   */
  Placement(String gpuType, int[] replicasByNode, int slotsPerReplica) {
    this.gpuType = gpuType;
    this.replicasByNode = replicasByNode;
    this.slotsPerReplica = slotsPerReplica;
    replicas = Arrays.stream(replicasByNode).sum();
  }

  String gpuType() {
    return gpuType;
  }

  /** Replicas on each node, in order; not to be changed. */
  int[] replicasByNode() {
    return replicasByNode;
  }

  int slots() {
    return replicas * slotsPerReplica;
  }

  int replicas() {
    return replicas;
  }

  boolean isEmpty() {
    return replicas == 0;
  }

  /** Whether step times are the same, on whatever nodes. */
  boolean sameAs(Placement other) {
    return gpuType.equals(other.gpuType) && Arrays.equals(replicasByNode, other.replicasByNode);
  }

  /** What a model is asked. */
  PlacementShape shape(String modelledType) {
    return new PlacementShape(replicasByNode.length, replicas, modelledType);
  }

  @Override
  public String toString() {
    return "%s %s".formatted(gpuType, Arrays.toString(replicasByNode)).strip();
  }
}
