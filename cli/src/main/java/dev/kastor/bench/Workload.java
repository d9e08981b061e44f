package dev.kastor.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A model that both sides train.
 *
 * @param name for people
 * @param model what both sides build it from
 */
public record Workload(String name, JsonNode model) {
  private static final List<Workload> USUAL =
      List.of(
          of(
              "mlp",
              """
              {"kind": "mlp", "batch": 128, "inputs": 784, "hidden": [512, 512], "classes": 10}
              """),
          of(
              "cnn",
              """
              {"kind": "cnn", "batch": 128, "channels": 1, "side": 28, "classes": 10,
               "widths": [32, 64], "hidden": 128}
              """),
          of(
              "transformer",
              """
              {"kind": "transformer", "batch": 32, "context": 64, "width": 128, "heads": 4,
               "layers": 4}
              """),
          of(
              "lstm",
              """
              {"kind": "recurrent", "cell": "lstm", "batch": 32, "context": 64, "vocabulary": 256,
               "embedding": 128, "hidden": 256}
              """),
          of(
              "gru",
              """
              {"kind": "recurrent", "cell": "gru", "batch": 32, "context": 64, "vocabulary": 256,
               "embedding": 128, "hidden": 256}
              """),
          of(
              "resnet18",
              """
              {"kind": "resnet", "batch": 64, "channels": 3, "side": 32, "classes": 10, "stem": 64,
               "blocks": [2, 2, 2, 2]}
              """));

  /** Size of GPT-2 small: a step takes seconds, so it is measured where it is named. */
  private static final Workload LARGE =
      of(
          "gpt2-small",
          """
          {"kind": "transformer", "batch": 4, "context": 128, "width": 768, "heads": 12,
           "layers": 12, "vocabulary": 50257, "tied": true}
          """);

  /** Workloads that are measured unless others are named, in the order to measure them. */
  public static List<Workload> usual() {
    return USUAL;
  }

  /** Names of every workload. */
  public static String names() {
    return all().map(Workload::name).collect(Collectors.joining(", "));
  }

  private static Stream<Workload> all() {
    return Stream.concat(USUAL.stream(), Stream.of(LARGE));
  }

  /**
   * The workload of a name.
   *
   * @throws BenchException if there is none, with those that there are
   */
  public static Workload named(String name) throws BenchException {
    return all()
        .filter(workload -> workload.name.equals(name))
        .findFirst()
        .orElseThrow(() ->
            new BenchException("there is no model '%s'; there are %s".formatted(name, names())));
  }

  private static Workload of(String name, String model) {
    try {
      return new Workload(name, new ObjectMapper().readTree(model));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the description of " + name + " is not JSON", e);
    }
  }
}
