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

/** TensorFlow Eager: ops at once, functions staged into graphs. */
public final class EagerPaper implements Paper {
  private static final String EVALUATION = "MLSys 2019, evaluation";

  @Override
  public String name() {
    return "eager";
  }

  @Override
  public String title() {
    return "TensorFlow Eager (Agrawal et al., MLSys 2019)";
  }

  @Override
  public String description() {
    return "Times a sampler of small ops in the shape of L2HMC, 10 to 10,000 chains of two"
        + " dimensions, eager and staged, on one thread.";
  }

  @Override
  public List<Claim> claims() {
    return List.of(
        Claim.of(
            "Staging speeds up a program of small ops, such as a sampler of few chains, several"
                + " times.",
            EVALUATION,
            Certainty.RECALLED,
            Threshold.atLeast("eager over staged, 10 chains", 5, 2)),
        Claim.of(
            "The gain vanishes as the ops grow.",
            EVALUATION,
            Certainty.RECALLED,
            Threshold.atMost("eager over staged, 10,000 chains", 1.5, 3)));
  }

  @Override
  public Optional<Reproduction> reproduction() {
    return Optional.of(EagerPaper::measure);
  }

  private static List<Measured> measure(Trial trial) throws PaperException, InterruptedException {
    int rounds = trial.reduced() ? 2 : 30;
    List<JsonNode> lines = Benchmark.run(trial, "engine.bench.SamplerRates", rounds);
    return List.of(ratio(lines.getFirst(), rounds), ratio(lines.getLast(), rounds));
  }

  private static Measured ratio(JsonNode line, int rounds) {
    return Measured.single(
        line.path("eagerOverStaged").asDouble(),
        "medians of %d rounds, %.2f and %.2f ms"
            .formatted(
                rounds, line.path("eagerMillis").asDouble(), line.path("stagedMillis").asDouble()));
  }
}
