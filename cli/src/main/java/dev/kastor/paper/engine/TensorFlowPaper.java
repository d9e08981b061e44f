package dev.kastor.paper.engine;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.paper.Certainty;
import dev.kastor.paper.Claim;
import dev.kastor.paper.Measured;
import dev.kastor.paper.Paper;
import dev.kastor.paper.PaperException;
import dev.kastor.paper.Reproduction;
import dev.kastor.paper.Threshold;
import dev.kastor.paper.Trial;
import java.util.List;
import java.util.Optional;

/** TensorFlow: graphs over devices, shared parameters, spare workers. */
public final class TensorFlowPaper implements Paper {
  private static final String EVALUATION = "OSDI 2016, evaluation";
  private static final int NEEDED = 20;

  @Override
  public String name() {
    return "tensorflow";
  }

  @Override
  public String title() {
    return "TensorFlow (Abadi et al., OSDI 2016)";
  }

  @Override
  public String description() {
    return "Runs bench/stragglers with 20 workers in simulated time, bench/executor, and training"
        + " steps on a sharded table of 5,000 to 500,000 rows.";
  }

  @Override
  public List<Claim> claims() {
    return List.of(
        Claim.of(
            "Spare workers shorten a synchronous step where some stand still now and then, by more"
                + " than the machines that they add.",
            EVALUATION,
            Certainty.RECALLED,
            Threshold.atLeast("step times machines: without spare workers over the best", 1.2, 1)),
        Claim.of(
            "The executor dispatches ops at a rate at which its own work does not count.",
            EVALUATION,
            Certainty.RECALLED,
            Threshold.atLeast("ops that do nothing, million in a CPU second", 1, 0.1)),
        Claim.of(
            "The time of a step that reads few rows of a sharded table does not grow with the"
                + " table.",
            EVALUATION,
            Certainty.RECALLED,
            Threshold.atMost("step with 500,000 rows over one with 5,000", 2, 10)));
  }

  @Override
  public Optional<Reproduction> reproduction() {
    return Optional.of(TensorFlowPaper::measure);
  }

  private static List<Measured> measure(Trial trial) throws PaperException, InterruptedException {
    int rounds = trial.reduced() ? 2 : 20;
    int steps = trial.reduced() ? 50 : 1000;
    JsonNode rates = Benchmark.run(trial, "engine.bench.ExecutorRates", rounds).getFirst();
    List<JsonNode> tables = Benchmark.run(trial, "agent.bench.TableSteps", rounds);
    return List.of(
        spare(Benchmark.run(trial, "agent.bench.Stragglers", NEEDED, steps), steps),
        Measured.single(
            rates.path("nullNodesPerSecond").asDouble() / 1e6,
            "median of %d rounds".formatted(rounds)),
        new Measured(
            ratio(tables, "stepMicros", "stepMicros"),
            ratio(tables, "lowestMicros", "highestMicros"),
            ratio(tables, "highestMicros", "lowestMicros"),
            "extremes of %d rounds".formatted(rounds)));
  }

  /** Of the last table over the first. */
  private static double ratio(List<JsonNode> tables, String above, String below) {
    return tables.getLast().path(above).asDouble() / tables.getFirst().path(below).asDouble();
  }

  private static Measured spare(List<JsonNode> lines, int steps) {
    double without = Double.NaN;
    double best = Double.POSITIVE_INFINITY;
    int spare = 0;
    for (JsonNode line : lines) {
      double cost = line.path("meanTimesMachines").asDouble(Double.NaN);
      if (line.path("spare").asInt(-1) == 0) {
        without = cost;
      } else if (line.has("spare") && cost < best) {
        best = cost;
        spare = line.path("spare").asInt();
      }
    }
    return Measured.single(
        without / best,
        "%d steps of %d workers in simulated time; best: %d spare".formatted(steps, NEEDED, spare));
  }
}
