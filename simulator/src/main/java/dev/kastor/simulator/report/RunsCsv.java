package dev.kastor.simulator.report;

import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.run.Outcome;
import java.util.List;
import java.util.StringJoiner;

/** Outcomes as CSV: a header, then a line for each run; the summaries of {@link RunsJson}. */
public final class RunsCsv {
  private static final String HEADER =
      "policy,workload,mode,seed,cluster,roundSeconds,load,jobs,avgJctSeconds,p50JctSeconds,"
          + "p90JctSeconds,p99JctSeconds,avgWaitSeconds,makespanSeconds,restarts,moves,gpuHours,"
          + "worstFairness,shareAboveOne,cpuSeconds,decisionMeanMillis,decisionP99Millis,"
          + "decisionMaxMillis";

  private RunsCsv() {}

  /** The whole file. */
  public static String of(List<Outcome> outcomes) {
    StringBuilder csv = new StringBuilder(HEADER).append('\n');
    for (Outcome outcome : outcomes) {
      Replay replay = outcome.replay();
      StringJoiner line = new StringJoiner(",", "", "\n");
      line.add(quoted(replay.policy()))
          .add(quoted(replay.workload()))
          .add(replay.mode().label())
          .add(Long.toString(replay.seed()))
          .add(quoted(outcome.run().cluster().toString()))
          .add(Long.toString(outcome.run().round().toSeconds()))
          .add(number(outcome.run().load()))
          .add(Integer.toString(replay.jobs().size()))
          .add(number(replay.averageSeconds()))
          .add(number(replay.percentileSeconds(50)))
          .add(number(replay.percentileSeconds(90)))
          .add(number(replay.percentileSeconds(99)))
          .add(number(replay.averageWaitSeconds()))
          .add(number(replay.makespanSeconds()))
          .add(Integer.toString(replay.restarts()))
          .add(Integer.toString(replay.moves()))
          .add(number(replay.gpuHours()))
          .add(number(outcome.fairness().worst()))
          .add(number(outcome.fairness().shareAboveOne()))
          .add(number(replay.cpuSeconds()))
          .add(number(replay.decisions().mean()))
          .add(number(replay.decisions().p99()))
          .add(number(replay.decisions().max()));
      csv.append(line);
    }
    return csv.toString();
  }

  private static String number(double value) {
    return Double.toString(value);
  }

  private static String quoted(String text) {
    return text.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r')
        ? '"' + text.replace("\"", "\"\"") + '"'
        : text;
  }
}
