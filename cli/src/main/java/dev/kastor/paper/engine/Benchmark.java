package dev.kastor.paper.engine;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.bench.BenchException;
import dev.kastor.bench.EngineProgram;
import dev.kastor.local.Installation;
import dev.kastor.local.LocalException;
import dev.kastor.paper.Measured;
import dev.kastor.paper.PaperException;
import dev.kastor.paper.Trial;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/** Benchmarks of the engine and of the agent, each a program of its own. */
final class Benchmark {
  private Benchmark() {}

  /**
   * Runs one.
   *
   * @param name of its class, after {@code dev.kastor.}
   * @return the lines of JSON that it prints
   */
  static List<JsonNode> run(Trial trial, String name, int... arguments)
      throws PaperException, InterruptedException {
    return run(trial, name, Arrays.stream(arguments).mapToObj(Integer::toString).toList());
  }

  /** The same with arguments of any kind. */
  static List<JsonNode> run(Trial trial, String name, List<String> arguments)
      throws PaperException, InterruptedException {
    String simple = name.substring(name.lastIndexOf('.') + 1);
    trial.progress().accept("%s %s".formatted(simple, String.join(" ", arguments)));
    try {
      return EngineProgram.lines(
          Installation.current(),
          "dev.kastor." + name,
          arguments,
          trial.threads(),
          simple + " failed");
    } catch (BenchException | LocalException | IOException e) {
      throw new PaperException(String.valueOf(e.getMessage()), e);
    }
  }

  /** The mean of some values with the lowest and the highest. */
  static Measured mean(String of, double... values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return new Measured(
        Arrays.stream(sorted).average().orElse(Double.NaN),
        sorted[0],
        sorted[sorted.length - 1],
        "lowest to highest of " + of);
  }
}
