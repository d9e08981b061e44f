package dev.kastor.simulator.evaluate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.run.Outcome;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * What is compared of a replay, or of several in the mean.
 *
 * @param meanSeconds mean job completion time
 * @param p50Seconds completion time that half of the jobs do not exceed
 * @param p90Seconds that 90 % do not exceed
 * @param p99Seconds that 99 % do not exceed
 * @param restarts changes of all jobs together
 * @param shareAboveOne share of the jobs, in [0, 1], that did worse than alone on their share
 * @param worst the largest ratio of finish-time fairness
 */
public record Figures(
    double meanSeconds,
    double p50Seconds,
    double p90Seconds,
    double p99Seconds,
    double restarts,
    double shareAboveOne,
    double worst) {
  /** Of a replay that failed: not a number, and neither is anything that is made of it. */
  static final Figures NONE =
      new Figures(
          Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN);

  private static final String MEAN = "avgJctSeconds";
  private static final String P50 = "p50JctSeconds";
  private static final String P90 = "p90JctSeconds";
  private static final String P99 = "p99JctSeconds";
  private static final String RESTARTS = "restarts";
  private static final String FAIRNESS = "finishTimeFairness";
  private static final String WORST = "worst";
  private static final String ABOVE = "shareAboveOne";

  static Figures of(Outcome outcome) {
    Replay replay = outcome.replay();
    return new Figures(
        replay.averageSeconds(),
        replay.percentileSeconds(50),
        replay.percentileSeconds(90),
        replay.percentileSeconds(99),
        replay.restarts(),
        outcome.fairness().shareAboveOne(),
        outcome.fairness().worst());
  }

  /** Each figure in the mean. */
  static Figures mean(List<Figures> all) {
    return new Figures(
        mean(all, Figures::meanSeconds),
        mean(all, Figures::p50Seconds),
        mean(all, Figures::p90Seconds),
        mean(all, Figures::p99Seconds),
        mean(all, Figures::restarts),
        mean(all, Figures::shareAboveOne),
        mean(all, Figures::worst));
  }

  /** In the mean, but for the worst ratio: the largest of all. */
  static Figures over(List<Figures> workloads) {
    Figures mean = mean(workloads);
    return new Figures(
        mean.meanSeconds,
        mean.p50Seconds,
        mean.p90Seconds,
        mean.p99Seconds,
        mean.restarts,
        mean.shareAboveOne,
        workloads.stream().mapToDouble(Figures::worst).max().orElseThrow());
  }

  private static double mean(List<Figures> all, ToDoubleFunction<Figures> value) {
    return all.stream().mapToDouble(value).average().orElseThrow();
  }

  /** Writes them into an object; nothing of {@link #NONE}. */
  void put(ObjectNode json) {
    if (Double.isNaN(meanSeconds)) {
      return;
    }
    json.put(MEAN, meanSeconds);
    json.put(P50, p50Seconds);
    json.put(P90, p90Seconds);
    json.put(P99, p99Seconds);
    json.put(RESTARTS, restarts);
    ObjectNode fairness = json.putObject(FAIRNESS);
    fairness.put(WORST, worst);
    fairness.put(ABOVE, shareAboveOne);
  }

  /** Reads what {@link #put} wrote; empty if something is missing. */
  static Optional<Figures> of(JsonNode json) {
    JsonNode fairness = json.path(FAIRNESS);
    Figures read =
        new Figures(
            number(json.path(MEAN)),
            number(json.path(P50)),
            number(json.path(P90)),
            number(json.path(P99)),
            number(json.path(RESTARTS)),
            number(fairness.path(ABOVE)),
            number(fairness.path(WORST)));
    boolean whole =
        !Double.isNaN(
            read.meanSeconds
                + read.p50Seconds
                + read.p90Seconds
                + read.p99Seconds
                + read.restarts
                + read.shareAboveOne
                + read.worst);
    return whole ? Optional.of(read) : Optional.empty();
  }

  private static double number(JsonNode json) {
    return json.isNumber() ? json.doubleValue() : Double.NaN;
  }
}
