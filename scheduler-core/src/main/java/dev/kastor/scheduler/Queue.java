package dev.kastor.scheduler;

/**
 * A queue that jobs are submitted to.
 *
 * @param name as jobs name it; empty for jobs that name none
 * @param weight the jobs of two queues under the same load share the cluster as their weights are
 */
public record Queue(String name, double weight) {
  /** Weight of a queue that nobody has given one. */
  public static final double DEFAULT_WEIGHT = 1;

  public Queue {
    if (!(weight > 0 && weight < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "weight of queue '%s' must be a number above 0 but is %s".formatted(name, weight));
    }
  }

  /** A queue of the default weight. */
  public Queue(String name) {
    this(name, DEFAULT_WEIGHT);
  }
}
