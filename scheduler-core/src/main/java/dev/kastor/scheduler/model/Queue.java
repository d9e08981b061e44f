package dev.kastor.scheduler.model;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * A queue that jobs are submitted to.
 *
 * @param name as jobs name it; empty for jobs that name none
 * @param weight the jobs of two queues under the same load share the cluster as their weights are
 * @param cohort queues of one cohort use what the others of it leave unused; empty for none
 * @param quota how much its jobs may hold; empty for no limit
 * @param stop whether its jobs start and run at all
 * @param pinsAlwaysHold whether a pin of its jobs holds whoever else claims what they have
 * @param stopReason why nobody runs; empty where somebody set its stop policy
 * @param reopening when that ends by itself; empty where it does not
 * @param budget how much its jobs may hold in a period; empty for no limit
 */
public record Queue(
    String name,
    double weight,
    String cohort,
    Optional<Quota> quota,
    StopPolicy stop,
    boolean pinsAlwaysHold,
    Optional<Reason> stopReason,
    Optional<Reopening> reopening,
    Optional<Budget> budget) {
  /**
   * End of a stop that comes by itself.
   *
   * @param at when it comes
   * @param stop the stop policy from then on
   */
  public record Reopening(Instant at, StopPolicy stop) {}

  /** Weight of a queue that nobody has given one. */
  public static final double DEFAULT_WEIGHT = 1;

  public Queue {
    if (!(weight > 0 && weight < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "weight of queue '%s' must be a number above 0 but is %s".formatted(name, weight));
    }
    if (!cohort.isEmpty() && quota.isEmpty()) {
      throw new IllegalArgumentException(
          "queue '%s' is of cohort '%s' but has no quota that it could lend or exceed. Give it a quota or take it out."
              .formatted(name, cohort));
    }
  }

  /** A queue that is stopped by its stop policy alone. */
  public Queue(
      String name,
      double weight,
      String cohort,
      Optional<Quota> quota,
      StopPolicy stop,
      boolean pinsAlwaysHold) {
    this(
        name,
        weight,
        cohort,
        quota,
        stop,
        pinsAlwaysHold,
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  /** The same queue, in which nobody runs until then, for a reason that is not its stop policy. */
  public Queue stopped(Reason reason, Instant until) {
    return new Queue(
        name,
        weight,
        cohort,
        quota,
        StopPolicy.HOLD_AND_DRAIN,
        pinsAlwaysHold,
        Optional.of(reason),
        Optional.of(new Reopening(until, stop)),
        budget);
  }

  /** The same queue at an instant: no longer stopped by what has ended by itself. */
  public Queue at(Instant now) {
    return reopening.isEmpty() || now.isBefore(reopening.get().at())
        ? this
        : new Queue(
            name,
            weight,
            cohort,
            quota,
            reopening.get().stop(),
            pinsAlwaysHold,
            Optional.empty(),
            Optional.empty(),
            budget);
  }

  /** The same queue with another quota. */
  public Queue withQuota(Quota other) {
    return new Queue(
        name,
        weight,
        cohort,
        Optional.of(other),
        stop,
        pinsAlwaysHold,
        stopReason,
        reopening,
        budget);
  }

  /** The same queue with a budget. */
  public Queue withBudget(Budget of) {
    return new Queue(
        name, weight, cohort, quota, stop, pinsAlwaysHold, stopReason, reopening, Optional.of(of));
  }

  /** A queue whose jobs are pinned within its quota only. */
  public Queue(String name, double weight, String cohort, Optional<Quota> quota, StopPolicy stop) {
    this(name, weight, cohort, quota, stop, false);
  }

  /** A queue without limits. */
  public Queue(String name, double weight) {
    this(name, weight, "", Optional.empty(), StopPolicy.NONE);
  }

  /** A queue of the default weight. */
  public Queue(String name) {
    this(name, DEFAULT_WEIGHT);
  }

  /** Whether anything but its weight sets it apart. */
  public boolean limited() {
    return quota.isPresent() || stop != StopPolicy.NONE;
  }

  /**
   * Queues by name from a text such as {@code research=3,night=0.5}; none from a blank one.
   *
   * @throws IllegalArgumentException with what is wrong and how it should look
   */
  public static SequencedMap<String, Queue> parse(String text) {
    SequencedMap<String, Queue> queues = new LinkedHashMap<>();
    if (text.isBlank()) {
      return queues;
    }
    for (String part : text.split(",", -1)) {
      int equals = part.lastIndexOf('=');
      String name = equals < 0 ? "" : part.substring(0, equals).strip();
      double weight;
      try {
        weight = Double.parseDouble(part.substring(equals + 1).strip());
      } catch (NumberFormatException e) {
        weight = Double.NaN;
      }
      if (name.isEmpty() || !(weight > 0 && weight < Double.POSITIVE_INFINITY)) {
        throw new IllegalArgumentException(
            "queues '%s' must be NAME=WEIGHT joined by commas, with weights above 0, such as research=3,night=0.5"
                .formatted(text));
      }
      if (queues.put(name, new Queue(name, weight)) != null) {
        throw new IllegalArgumentException(
            "queue '%s' appears twice in '%s'".formatted(name, text));
      }
    }
    return queues;
  }
}
