package dev.kastor.simulator.evaluate;

import dev.kastor.simulator.Outcome;
import dev.kastor.simulator.Replay;
import java.util.List;
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
}
