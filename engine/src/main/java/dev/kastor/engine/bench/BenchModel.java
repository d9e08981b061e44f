package dev.kastor.engine.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.engine.nn.Batch;
import dev.kastor.engine.nn.Cnn;
import dev.kastor.engine.nn.Mlp;
import dev.kastor.engine.nn.Network;
import dev.kastor.engine.nn.RecurrentLanguageModel;
import dev.kastor.engine.nn.ResNet;
import dev.kastor.engine.nn.TransformerLanguageModel;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.tensor.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * A network to train and how many examples at a time.
 *
 * @param examples of the batch
 */
record BenchModel(Network network, int examples) {
  /**
   * Reads a description such as {@code {"kind": "mlp", "batch": 128, "inputs": 784, "hidden": [512,
   * 512], "classes": 10}}.
   *
   * @throws IllegalArgumentException if there is no such kind, or a field is absent
   */
  static BenchModel of(JsonNode json) {
    return new BenchModel(network(json), number(json, "batch"));
  }

  private static Network network(JsonNode json) {
    String kind = json.path("kind").asText();
    return switch (kind) {
      case "mlp" ->
          new Mlp(number(json, "inputs"), numbers(json, "hidden"), number(json, "classes"));
      case "cnn" ->
          new Cnn(
              number(json, "channels"),
              number(json, "side"),
              number(json, "side"),
              number(json, "classes"),
              numbers(json, "widths"),
              number(json, "hidden"));
      case "resnet" ->
          new ResNet(
              number(json, "channels"),
              number(json, "side"),
              number(json, "side"),
              number(json, "classes"),
              number(json, "stem"),
              numbers(json, "blocks"));
      case "transformer" ->
          new TransformerLanguageModel(
              json.path("vocabulary").asInt(256),
              number(json, "context"),
              number(json, "width"),
              number(json, "heads"),
              number(json, "layers"),
              json.path("tied").asBoolean());
      case "recurrent" ->
          new RecurrentLanguageModel(
              number(json, "context"),
              number(json, "vocabulary"),
              number(json, "embedding"),
              number(json, "hidden"),
              Recurrent.Cell.valueOf(json.path("cell").asText().toUpperCase(Locale.ROOT)));
      default -> throw new IllegalArgumentException("There is no kind of model '" + kind + "'.");
    };
  }

  private static int number(JsonNode json, String field) {
    return present(json, field).intValue();
  }

  private static List<Integer> numbers(JsonNode json, String field) {
    List<Integer> all = new ArrayList<>();
    present(json, field).forEach(each -> all.add(each.intValue()));
    return all;
  }

  private static JsonNode present(JsonNode json, String field) {
    JsonNode value = json.get(field);
    if (value == null) {
      throw new IllegalArgumentException("A model has no field '%s': %s".formatted(field, json));
    }
    return value;
  }

  /** Random examples, normally distributed or tokens, with random classes. */
  Batch batch(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    boolean tokens = network.example().dtype() == DType.I32;
    float[] features = new float[examples * network.example().shape().elements()];
    for (int i = 0; i < features.length; i++) {
      features[i] = tokens ? random.nextInt(network.classes()) : (float) random.nextGaussian();
    }
    int targets = examples * network.positions();
    return new Batch(examples, features, random.ints(targets, 0, network.classes()).toArray());
  }
}
