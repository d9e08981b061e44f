package dev.kastor.simulator.evaluate;

import dev.kastor.simulator.ClusterShape;
import dev.kastor.simulator.Mode;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Workloads that are compared together.
 *
 * @param name of the set
 * @param mode whose published policy is the baseline, by its own rules of time
 * @param profiles the applications' file or folder
 * @param cluster the nodes
 * @param workloads paths, as given
 * @param load its place on the axis of loads; empty where it has none
 * @param factor how many times faster than in the file jobs arrive
 */
public record WorkloadSet(
    String name,
    Mode mode,
    Path profiles,
    ClusterShape cluster,
    List<String> workloads,
    OptionalDouble load,
    double factor) {
  public WorkloadSet {
    workloads = List.copyOf(workloads);
    if (mode == Mode.EVENTS) {
      throw new IllegalArgumentException(
          "mode events has no published policy to compare with. Use pollux or sia.");
    }
    if (workloads.isEmpty()) {
      throw new IllegalArgumentException("set %s has no workloads".formatted(name));
    }
  }

  /** The cluster of the published experiments. */
  public static ClusterShape publishedCluster(Mode mode) {
    return ClusterShape.parse(mode == Mode.SIA ? "aws=6x4,dgx-ext=2x8,rtx=3x8" : "16x4");
  }

  /** Some workloads at several loads: a set for each. */
  public static List<WorkloadSet> atLoads(
      Mode mode, Path profiles, ClusterShape cluster, List<String> workloads, List<Double> loads) {
    return loads.stream()
        .map(load ->
            new WorkloadSet(
                "load " + load, mode, profiles, cluster, workloads, OptionalDouble.of(load), load))
        .toList();
  }
}
