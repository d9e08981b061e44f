package dev.kastor.simulator.evaluate;

import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.run.DrawnCategories;
import dev.kastor.traces.CategoryMix;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
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
 * @param mix what schedulers may change about jobs, drawn for each; empty where the files say it
 * @param rivals policies besides the mode's published one whose fairness is shown
 * @param dissected whether the parts that try many variants are asked of it
 */
public record WorkloadSet(
    String name,
    Mode mode,
    Path profiles,
    ClusterShape cluster,
    List<String> workloads,
    OptionalDouble load,
    double factor,
    Optional<CategoryMix> mix,
    List<String> rivals,
    boolean dissected) {
  public WorkloadSet {
    workloads = List.copyOf(workloads);
    rivals = List.copyOf(rivals);
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
                "load " + load,
                mode,
                profiles,
                cluster,
                workloads,
                OptionalDouble.of(load),
                load,
                Optional.empty(),
                List.of(),
                true))
        .toList();
  }

  /** The same, asked for the parts that try many variants or not. */
  WorkloadSet dissected(boolean whether) {
    return new WorkloadSet(
        name, mode, profiles, cluster, workloads, load, factor, mix, rivals, whether);
  }

  /**
   * What schedulers may change about the jobs of a workload. The first workload of a set is drawn
   * with seed 1, the second with 2 and so on, as {@code kastor trace convert --categories} draws.
   */
  Optional<DrawnCategories> categories(String workload) {
    return mix.map(weights -> new DrawnCategories(weights, workloads.indexOf(workload) + 1));
  }
}
