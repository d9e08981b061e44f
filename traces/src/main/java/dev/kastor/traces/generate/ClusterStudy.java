package dev.kastor.traces.generate;

import java.util.List;

/**
 * What a study of a cluster reports of its jobs.
 *
 * @param name what {@code --like} calls it
 * @param source the study
 * @param sizes how often each number of GPUs is asked for
 * @param durations how long jobs run
 * @param byHour submissions in each hour of the day, from midnight, in any unit
 * @param byDay submissions on each day of the week, from Monday, in any unit
 * @param failed share of jobs that end in an error
 * @param killed share of jobs that are ended by their owner or the cluster
 */
public record ClusterStudy(
    String name,
    String source,
    List<Size> sizes,
    Durations durations,
    List<Double> byHour,
    List<Double> byDay,
    double failed,
    double killed) {
  /** A number of GPUs and its weight among all jobs. */
  public record Size(int gpus, double weight) {}

  public ClusterStudy {
    sizes = List.copyOf(sizes);
    byHour = List.copyOf(byHour);
    byDay = List.copyOf(byDay);
    if (byHour.size() != 24 || byDay.size() != 7) {
      throw new IllegalArgumentException(
          "study %s needs 24 hours and 7 days, not %d and %d"
              .formatted(name, byHour.size(), byDay.size()));
    }
  }
}
