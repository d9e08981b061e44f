package dev.kastor.training;

import dev.kastor.plugin.Nearest;
import dev.kastor.plugin.Selection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Features of training that a TrainingJob chooses under {@code spec.training}.
 *
 * <p>The form is checked here, and by all who read a job; names and options of features are checked
 * by those who have the features: who submits a job, and the agent.
 *
 * @param passes by name whether a graph pass is on
 * @param gradients what is done to the mean gradient, in this order
 * @param codec what stands for gradients between replicas; empty for the gradients themselves
 * @param updates what is done to the parameters after the optimizer's step, in this order
 * @param select what chooses the examples that are trained; empty for all of them
 * @param tune what changes the learning rate while the job trains; empty for nothing
 * @param sync when replicas exchange what they learned; empty for in every step
 * @param collective how replicas sum; empty for over one ring
 * @param devices how the devices of a replica share a pass; empty for all of it on one
 * @param drift what is done where the states of replicas differ
 */
public record TrainingChoices(
    SequencedMap<String, Boolean> passes,
    List<Selection> gradients,
    Optional<Selection> codec,
    List<Selection> updates,
    Optional<Selection> select,
    Optional<Selection> tune,
    Optional<Selection> sync,
    Optional<Selection> collective,
    Optional<Selection> devices,
    Drift drift) {
  /** No choice: training as it is without {@code spec.training}. */
  public static final TrainingChoices NONE =
      new TrainingChoices(
          new LinkedHashMap<>(),
          List.of(),
          Optional.empty(),
          List.of(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Drift.REPAIR);

  /** Characters of all names and values: the spec reaches a replica in one variable of 128 KiB. */
  private static final int MOST_CHARACTERS = 4096;

  private static final String PASSES = "passes";
  private static final String GRADIENTS = "gradients";
  private static final String CODEC = "codec";
  private static final String UPDATES = "updates";
  private static final String SELECT = "select";
  private static final String TUNE = "tune";
  private static final String SYNC = "sync";
  private static final String COLLECTIVE = "collective";
  private static final String DEVICES = "devices";
  private static final String DRIFT = "drift";
  private static final List<String> FIELDS =
      List.of(PASSES, GRADIENTS, CODEC, UPDATES, SELECT, TUNE, SYNC, COLLECTIVE, DEVICES, DRIFT);

  private static final String CLIP = "clip: {norm: 1.0}";
  private static final String MAX_NORM = "max-norm: {norm: 3}";
  private static final String ONE_SELECTOR =
      "one selector with its options, such as backprop: {beta: 3}";
  private static final String ONE_TUNER =
      "one tuner with its options, such as plateau: {patience: 1000}";
  private static final String ONE_SYNC =
      "one sync policy with its options, such as local: {steps: 8}";
  private static final String ONE_COLLECTIVE =
      "one collective with its options, such as hierarchical";
  private static final String ONE_LAYOUT =
      "one layout of devices with its options, such as split: {memoryMiB: 2048}";
  private static final String ONE_CODEC = "one codec with its options, such as topk: {share: 0.01}";

  public TrainingChoices {
    passes = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(passes));
    gradients = List.copyOf(gradients);
    updates = List.copyOf(updates);
  }

  /**
   * Choices from their free form, as YAML or JSON gives it.
   *
   * @throws IllegalArgumentException if a field is unknown, a value has another form or a feature
   *     is chosen twice; the message begins with the path below {@code spec}
   */
  public static TrainingChoices parse(@Nullable Map<String, ?> training) {
    if (training == null) {
      return NONE;
    }
    int characters = String.valueOf(training).length();
    if (characters > MOST_CHARACTERS) {
      throw new IllegalArgumentException(
          "training has %d characters but may have %d. Shorten it."
              .formatted(characters, MOST_CHARACTERS));
    }
    for (String field : training.keySet()) {
      if (!FIELDS.contains(field)) {
        throw new IllegalArgumentException(
            "training has no field '%s'. Use one of: %s%s"
                .formatted(field, String.join(", ", FIELDS), Nearest.question(field, FIELDS)));
      }
    }
    return new TrainingChoices(
        passes(training.get(PASSES)),
        stages("training.gradients", CLIP, training.get(GRADIENTS)),
        feature("training.codec", ONE_CODEC, training.get(CODEC)),
        stages("training.updates", MAX_NORM, training.get(UPDATES)),
        feature("training.select", ONE_SELECTOR, training.get(SELECT)),
        feature("training.tune", ONE_TUNER, training.get(TUNE)),
        feature("training.sync", ONE_SYNC, training.get(SYNC)),
        feature("training.collective", ONE_COLLECTIVE, training.get(COLLECTIVE)),
        feature("training.devices", ONE_LAYOUT, training.get(DEVICES)),
        Drift.parse(training.get(DRIFT)));
  }

  /** The same choices, with this collective. */
  public TrainingChoices with(Selection chosen) {
    return new TrainingChoices(
        passes, gradients, codec, updates, select, tune, sync, Optional.of(chosen), devices, drift);
  }

  private static SequencedMap<String, Boolean> passes(@Nullable Object given) {
    SequencedMap<String, Boolean> passes = new LinkedHashMap<>();
    if (given == null) {
      return passes;
    }
    if (!(given instanceof Map<?, ?> map)) {
      throw new IllegalArgumentException(
          "training.passes must be a map of names to on or off, such as {tableProducts: off}");
    }
    map.forEach((name, value) -> passes.put(String.valueOf(name), isOn(name, value)));
    return passes;
  }

  /** YAML 1.1 reads the words on and off as true and false. */
  private static boolean isOn(Object name, @Nullable Object value) {
    return switch (String.valueOf(value)) {
      case "on", "true" -> true;
      case "off", "false" -> false;
      default ->
          throw new IllegalArgumentException(
              "training.passes.%s must be on or off but is '%s'".formatted(name, value));
    };
  }

  private static List<Selection> stages(String path, String example, @Nullable Object given) {
    if (given == null) {
      return List.of();
    }
    if (!(given instanceof List<?> list)) {
      throw new IllegalArgumentException(
          "%s must be a list of stages with their options, such as %s".formatted(path, example));
    }
    List<Selection> stages = new ArrayList<>();
    for (Object each : list) {
      Selection stage =
          selection(
              "%s[%d]".formatted(path, stages.size()),
              "one stage with its options, such as " + example,
              each);
      if (stages.stream().anyMatch(other -> other.name().equals(stage.name()))) {
        throw new IllegalArgumentException(
            "%s has %s and %s: a stage can be used once. Take one of them out."
                .formatted(path, stage.name(), stage.name()));
      }
      stages.add(stage);
    }
    return stages;
  }

  private static Optional<Selection> feature(String path, String rule, @Nullable Object given) {
    return Optional.ofNullable(given).map(feature -> selection(path, rule, feature));
  }

  private static Selection selection(String path, String rule, @Nullable Object given) {
    if (given instanceof String name) {
      return new Selection(name, new LinkedHashMap<>());
    }
    if (!(given instanceof Map<?, ?> map) || map.size() != 1) {
      throw wrong(path, rule);
    }
    Map.Entry<?, ?> feature = map.entrySet().iterator().next();
    SequencedMap<String, String> options = new LinkedHashMap<>();
    if (feature.getValue() instanceof Map<?, ?> values) {
      values.forEach((name, value) -> {
        if (value == null || value instanceof Map || value instanceof List) {
          throw new IllegalArgumentException(
              "%s.%s.%s must be a number or a text".formatted(path, feature.getKey(), name));
        }
        options.put(String.valueOf(name), value.toString());
      });
    } else if (feature.getValue() != null) {
      throw wrong(path, rule);
    }
    return new Selection(String.valueOf(feature.getKey()), options);
  }

  private static IllegalArgumentException wrong(String path, String rule) {
    return new IllegalArgumentException("%s must be %s".formatted(path, rule));
  }
}
