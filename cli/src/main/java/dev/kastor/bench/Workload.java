package dev.kastor.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;

/**
 * A model that both sides train.
 *
 * @param name for people
 * @param model what both sides build it from
 */
public record Workload(String name, JsonNode model) {
  private static final List<Workload> ALL =
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

  /** Every workload, in the order to measure them. */
  public static List<Workload> all() {
    return ALL;
  }

  /**
   * The workload of a name.
   *
   * @throws BenchException if there is none, with those that there are
   */
  public static Workload named(String name) throws BenchException {
    return ALL.stream()
        .filter(workload -> workload.name.equals(name))
        .findFirst()
        .orElseThrow(() ->
            new BenchException(
                "there is no model '%s'; there are %s"
                    .formatted(
                        name, String.join(", ", ALL.stream().map(Workload::name).toList()))));
  }

  private static Workload of(String name, String model) {
    try {
      return new Workload(name, new ObjectMapper().readTree(model));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the description of " + name + " is not JSON", e);
    }
  }
}
