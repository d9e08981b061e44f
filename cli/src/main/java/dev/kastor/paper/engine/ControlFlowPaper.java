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

/** Dynamic control flow: branches and loops as ops of a graph. */
public final class ControlFlowPaper implements Paper {
  @Override
  public String name() {
    return "control-flow";
  }

  @Override
  public String title() {
    return "Dynamic control flow in TensorFlow (Yu et al., EuroSys 2018)";
  }

  @Override
  public String description() {
    return "Trains an LSTM layer in a loop, 100 to 1,000 positions under a cap of memory, with and"
        + " without a file for its past; beside the same layer unrolled; and runs eight layers on"
        + " two devices of one core each.";
  }

  @Override
  public List<Claim> claims() {
    return List.of(
        Claim.of(
            "With swapping a layer of 1,000 positions trains where without it 600 no longer fit.",
            "table 1, lengths 100 to 1,000",
            Certainty.NOTES,
            Threshold.atLeast("longest layer that trains: with a file over without", 2, 1.1)),
        Claim.of(
            "An iteration then takes the same time at any length: 5.72 to 5.77 ms.",
            "table 1, lengths 100 to 1,000",
            Certainty.NOTES,
            Threshold.atMost("iteration with a file: longest layer over shortest", 1.1, 2)),
        Claim.of(
            "A loop takes 3 to 9 % longer than the unrolled layer, for batches of 64 to 512.",
            "bars of a figure",
            Certainty.NOTES,
            Threshold.atMost("loop over unrolled, % more", 9, 30)),
        Claim.of(
            "Eight layers, one loop, are 1.6 times as fast on two GPUs as on one.",
            "figure 15",
            Certainty.NOTES,
            Threshold.atLeast("speed on two devices over one", 1.5, 1.1)));
  }

  @Override
  public Optional<Reproduction> reproduction() {
    return Optional.of(ControlFlowPaper::measure);
  }

  private static List<Measured> measure(Trial trial) throws PaperException, InterruptedException {
    int rounds = trial.reduced() ? 1 : 7;
    int units = trial.reduced() ? 16 : 256;
    List<JsonNode> lines = Benchmark.run(trial, "engine.bench.LoopRates", rounds, units);
    List<JsonNode> inFile = of(lines, "length", true);
    List<JsonNode> inMemory = of(lines, "length", false);
    double[] overheads =
        lines.stream()
            .filter(line -> line.path("part").asText().equals("unrolled"))
            .mapToDouble(line -> 100 * line.path("overhead").asDouble())
            .toArray();
    JsonNode devices =
        lines.stream()
            .filter(line -> line.path("part").asText().equals("devices"))
            .findFirst()
            .orElseThrow(() -> new PaperException("LoopRates said nothing of two devices"));
    if (inFile.isEmpty() || inMemory.isEmpty() || overheads.length == 0) {
      throw new PaperException("LoopRates left out a part of what it should measure");
    }
    double longest = inFile.getLast().path("length").asDouble();
    double without = inMemory.getLast().path("length").asDouble();
    return List.of(
        Measured.single(longest / without, "%.0f and %.0f positions".formatted(longest, without)),
        Measured.single(
            millis(inFile.getLast()) / millis(inFile.getFirst()),
            "medians of %d rounds: %.2f and %.2f ms"
                .formatted(rounds, millis(inFile.getFirst()), millis(inFile.getLast()))),
        Benchmark.mean("batches of 64, 128, 256; %d units".formatted(units), overheads),
        Measured.single(
            devices.path("speedUp").asDouble(), "medians of %d rounds".formatted(rounds)));
  }

  private static double millis(JsonNode line) {
    return line.path("iterationMillis").asDouble();
  }

  /** Lengths that could be trained. */
  private static List<JsonNode> of(List<JsonNode> lines, String part, boolean spill) {
    return lines.stream()
        .filter(line ->
            line.path("part").asText().equals(part)
                && line.path("spill").asBoolean() == spill
                && line.path("iterationMillis").isNumber())
        .toList();
  }
}
