package dev.kastor.simulator.run;

import dev.kastor.traces.CategoryMix;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Category;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Categories drawn anew for the jobs of a replay, the same for every policy. A job whose batch
 * stays takes at most the replicas that were asked for, in every mode.
 *
 * @param mix how likely each category is
 * @param seed of the draws
 */
public record DrawnCategories(CategoryMix mix, long seed) {
  /** The jobs in their categories. */
  Workload of(Workload workload) {
    Workload drawn = mix.draw(workload, seed);
    return new Workload(drawn.name(), drawn.jobs().stream().map(DrawnCategories::bounded).toList());
  }

  private static Workload.Job bounded(Workload.Job job) {
    return job.category() == Category.SCALE_GPUS
        ? job.atMost(Math.min(job.maxReplicas(), job.requestedReplicas()))
        : job;
  }

  /** Weights in the order of the categories, and the seed. */
  @Override
  public String toString() {
    return Arrays.stream(Category.values())
        .map(category -> "%s=%s".formatted(category, mix.weights().getOrDefault(category, 0.0)))
        .collect(Collectors.joining(",", "", ", seed " + seed));
  }
}
