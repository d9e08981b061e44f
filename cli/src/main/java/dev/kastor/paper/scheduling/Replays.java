package dev.kastor.paper.scheduling;

import dev.kastor.paper.Measured;
import dev.kastor.paper.PaperException;
import dev.kastor.paper.Trial;
import dev.kastor.simulator.compare.Interval;
import dev.kastor.simulator.evaluate.Contender;
import dev.kastor.simulator.evaluate.PublishedSets;
import dev.kastor.simulator.evaluate.WorkloadSet;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.run.Outcome;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.run.RunListener;
import dev.kastor.simulator.run.Simulate;
import dev.kastor.traces.TraceException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToDoubleFunction;

/**
 * Replays of published workloads under some policies, each in the published policy's own mode.
 *
 * @param byPolicy the replays of all workloads, in their order
 */
record Replays(SequencedMap<String, List<Replay>> byPolicy, long seed) {
  /**
   * Replays a set of workloads; of a reduced trial the first one only.
   *
   * @param name of one of {@link PublishedSets}
   */
  static Replays of(Trial trial, String part, String name, List<String> policies)
      throws PaperException, InterruptedException {
    try {
      WorkloadSet set = PublishedSets.read(trial.traces(part), List.of(name)).getFirst();
      List<String> workloads =
          trial.reduced() ? List.of(set.workloads().getFirst()) : set.workloads();
      List<Run> runs = new ArrayList<>();
      for (String policy : policies) {
        for (String workload : workloads) {
          runs.add(Contender.of(policy).run(set, workload, trial.seed()));
        }
      }
      SequencedMap<String, List<Replay>> byPolicy = new LinkedHashMap<>();
      for (Replay replay : all(runs, trial)) {
        byPolicy.computeIfAbsent(replay.policy(), _ -> new ArrayList<>()).add(replay);
      }
      return new Replays(byPolicy, trial.seed());
    } catch (IOException | IllegalArgumentException e) {
      throw new PaperException(String.valueOf(e.getMessage()), e);
    }
  }

  /** Makes replays and tells of each. */
  static List<Replay> all(List<Run> runs, Trial trial) throws PaperException, InterruptedException {
    AtomicInteger done = new AtomicInteger();
    try {
      RunListener progress =
          new RunListener() {
            @Override
            public void at(int run, double seconds, int finished, int all) {}

            @Override
            public void finished(int run, Outcome outcome) {
              trial
                  .progress()
                  .accept(
                      "replay %d of %d: %s on %s, %s: mean %.0f s"
                          .formatted(
                              done.incrementAndGet(),
                              runs.size(),
                              outcome.run().policy(),
                              outcome.run().cluster(),
                              Path.of(outcome.run().workload()).getFileName(),
                              outcome.replay().averageSeconds()));
            }
          };
      return Simulate.prepare(runs).all(trial.threads(), progress).stream()
          .map(Outcome::replay)
          .toList();
    } catch (TraceException e) {
      throw new PaperException(String.valueOf(e.getMessage()), e);
    }
  }

  /** A figure of each workload under a policy. */
  double[] each(String policy, ToDoubleFunction<Replay> figure) {
    return Objects.requireNonNull(byPolicy.get(policy), policy).stream()
        .mapToDouble(figure)
        .toArray();
  }

  /** Mean of a figure under one policy over that under another; workloads count as pairs. */
  Interval ratio(String policy, String other, ToDoubleFunction<Replay> figure) {
    return Interval.ofRatio(each(other, figure), each(policy, figure));
  }

  /** By how many per cent a policy's mean completion time is below another's. */
  Measured reduction(String policy, String other) {
    Interval ratio = ratio(policy, other, Replay::averageSeconds);
    return new Measured(
        100 * (1 - ratio.value()), 100 * (1 - ratio.high()), 100 * (1 - ratio.low()), over());
  }

  /** Mean of a figure over the workloads. */
  Measured mean(String policy, ToDoubleFunction<Replay> figure) {
    return measured(Interval.ofMean(each(policy, figure)));
  }

  Measured measured(Interval interval) {
    return new Measured(interval.value(), interval.low(), interval.high(), over());
  }

  private String over() {
    int workloads = byPolicy.values().iterator().next().size();
    return workloads == 1
        ? "one workload, seed " + seed
        : "95 %% over %d workloads, seed %d".formatted(workloads, seed);
  }
}
