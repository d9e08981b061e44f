package dev.kastor.agent;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.agent.operator.WireJson;
import dev.kastor.agent.trainer.TrainingSettings;
import dev.kastor.agent.trainer.Work;
import dev.kastor.engine.optim.LearningRateRules;
import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.training.TrainingChoices;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a replica needs of a TrainingJob's spec.
 *
 * @param program name of the program
 * @param parameters its parameters as the user gave them
 * @param initialBatch M0 in examples
 * @param baseLearningRate at M0
 * @param scaling how the learning rate follows the batch
 * @param work when the job is done
 * @param firstAtomicBatch the likeliest batch of a replica's first pass
 * @param checkpointInterval time between checkpoints
 * @param keepLast checkpoints kept
 * @param warmStart whose parameters the job begins with; empty for fresh ones
 * @param slots devices of a replica
 * @param training features of training that the user chose
 */
public record JobSettings(
    String program,
    Map<String, String> parameters,
    int initialBatch,
    double baseLearningRate,
    String scaling,
    Work work,
    int firstAtomicBatch,
    Duration checkpointInterval,
    int keepLast,
    Optional<WarmStartSetting> warmStart,
    int slots,
    TrainingChoices training) {
  private static final Duration EVALUATION_INTERVAL = Duration.ofSeconds(10);

  /**
   * Job whose parameters this one begins with.
   *
   * @param job its name
   * @param step of the checkpoint; empty for the newest
   */
  public record WarmStartSetting(String job, OptionalLong step) {}

  /** Stands in where there is none. */
  static final JobSettings NONE =
      new JobSettings(
          "",
          Map.of(),
          1,
          1,
          "None",
          new Work.Steps(1),
          1,
          Duration.ZERO,
          2,
          Optional.empty(),
          1,
          TrainingChoices.NONE);

  public JobSettings {
    parameters = Map.copyOf(parameters);
  }

  /**
   * The part that the trainer needs.
   *
   * @param method features of training that the job chose
   */
  TrainingSettings settings(long seed, TrainingMethod method) {
    return new TrainingSettings(
        initialBatch,
        baseLearningRate,
        LearningRateRules.BUILT_IN.get(scaling),
        work,
        seed,
        checkpointInterval,
        EVALUATION_INTERVAL,
        method);
  }

  /**
   * Reads a spec.
   *
   * @throws IllegalArgumentException naming every field that is missing or wrong, or saying what is
   *     wrong with the features of training
   */
  static JobSettings parse(String json) {
    JsonNode spec;
    try {
      spec = WireJson.tree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not JSON: " + e.getOriginalMessage(), e);
    }
    Fields fields = new Fields(spec);
    String program = fields.text("program.name");
    Map<String, String> parameters = new LinkedHashMap<>();
    fields
        .at("program.parameters")
        .properties()
        .forEach(entry -> parameters.put(entry.getKey(), entry.getValue().asText()));
    int initialBatch = (int) fields.number("goodput.batchSize.initial");
    double rate = fields.decimal("goodput.learningRate.base");
    String scaling = fields.at("goodput.learningRate.scaling").asText("AdaScale");
    fields.check(
        "goodput.learningRate.scaling", LearningRateRules.BUILT_IN.names().contains(scaling));
    Work work = fields.work();
    int minReplicas = fields.at("elastic.minReplicas").asInt(1);
    int slots = fields.at("elastic.slotsPerReplica").asInt(1);
    int least = fields.at("goodput.batchSize.perDevice.min").asInt(1);
    int most = fields.at("goodput.batchSize.perDevice.max").asInt(Integer.MAX_VALUE);
    int interval = fields.at("checkpoint.intervalSeconds").asInt(10);
    int keepLast = fields.at("checkpoint.keepLast").asInt(3);
    fields.check("elastic.minReplicas", minReplicas >= 1);
    fields.check("elastic.slotsPerReplica", slots >= 1);
    fields.check("goodput.batchSize.perDevice", least >= 1 && least <= most);
    fields.check("checkpoint", interval >= 1 && keepLast >= 1);
    Optional<WarmStartSetting> warmStart = fields.warmStart();
    fields.throwIfWrong();
    int share = Math.ceilDiv(initialBatch, minReplicas);
    return new JobSettings(
        program,
        parameters,
        initialBatch,
        rate,
        scaling,
        work,
        Math.clamp(share, least, most),
        Duration.ofSeconds(interval),
        keepLast,
        warmStart,
        slots,
        TrainingChoices.parse(WireJson.freeForm(fields.at("training"))));
  }

  /** Looks fields up by path and remembers what is wrong. */
  private static final class Fields {
    private final JsonNode spec;
    private final List<String> wrong = new ArrayList<>();

    Fields(JsonNode spec) {
      this.spec = spec;
    }

    JsonNode at(String path) {
      return spec.at("/" + path.replace('.', '/'));
    }

    String text(String path) {
      String value = at(path).asText("");
      check(path, !value.isEmpty());
      return value;
    }

    /** A whole number of at least 1. */
    long number(String path) {
      JsonNode value = at(path);
      check(path, value.isIntegralNumber() && value.canConvertToLong() && value.asLong() >= 1);
      return value.asLong();
    }

    /** A decimal string above 0. */
    double decimal(String path) {
      double value = at(path).asDouble(Double.NaN);
      check(path, value > 0 && Double.isFinite(value));
      return value;
    }

    Work work() {
      if (!at("goodput.work.epochs").isMissingNode()) {
        return new Work.Epochs(number("goodput.work.epochs"));
      }
      if (!at("goodput.work.examples").isMissingNode()) {
        return new Work.Examples(number("goodput.work.examples"));
      }
      return new Work.Steps(number("goodput.work.steps"));
    }

    Optional<WarmStartSetting> warmStart() {
      if (at("checkpoint.warmStart").isMissingNode()) {
        return Optional.empty();
      }
      JsonNode step = at("checkpoint.warmStart.step");
      check(
          "checkpoint.warmStart.step",
          step.isMissingNode() || (step.canConvertToLong() && step.asLong() >= 0));
      return Optional.of(
          new WarmStartSetting(
              text("checkpoint.warmStart.job"),
              step.isMissingNode() ? OptionalLong.empty() : OptionalLong.of(step.asLong())));
    }

    void check(String path, boolean right) {
      if (!right) {
        wrong.add(path);
      }
    }

    void throwIfWrong() {
      if (!wrong.isEmpty()) {
        throw new IllegalArgumentException("missing or wrong: " + String.join(", ", wrong));
      }
    }
  }
}
