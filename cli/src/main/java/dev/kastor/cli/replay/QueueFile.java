package dev.kastor.cli.replay;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.manifest.ManifestFile;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.crds.queue.QueueSpec;
import dev.kastor.crds.queue.QueueSpec.BudgetSpec;
import dev.kastor.crds.queue.QueueSpec.OnExceeded;
import dev.kastor.crds.queue.QueueSpec.StopPolicyKind;
import dev.kastor.local.api.Json;
import dev.kastor.scheduler.model.Budget;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.StopPolicy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** Queues of a replay: Queue objects in a YAML file, as {@code kubectl apply} takes them. */
final class QueueFile {
  private static final ObjectMapper STRICT = new ObjectMapper();

  private QueueFile() {}

  /** Whether the value of an option names such a file, and not queues. */
  static boolean named(String value) {
    return value.endsWith(".yaml") || value.endsWith(".yml");
  }

  /**
   * The queues of a file by name.
   *
   * @throws CliException naming file, object and field where it cannot be read
   */
  static SequencedMap<String, Queue> read(Path file) {
    SequencedMap<String, Queue> queues = new LinkedHashMap<>();
    try (MappingIterator<JsonNode> objects =
        Json.YAML.readerFor(JsonNode.class).readValues(ManifestFile.text(file))) {
      while (objects.hasNext()) {
        JsonNode object = objects.next();
        if (object.isNull() || object.isMissingNode()) {
          continue;
        }
        Queue queue = queue(object, file);
        if (queues.put(queue.name(), queue) != null) {
          throw bad(file, "has queue %s twice".formatted(queue.name()));
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      throw bad(file, "cannot be read: " + e.getMessage());
    } catch (RuntimeException e) {
      if (e.getCause() instanceof IOException cause) {
        throw bad(file, "cannot be read: " + cause.getMessage());
      }
      throw e;
    }
    return queues;
  }

  private static Queue queue(JsonNode object, Path file) throws JsonProcessingException {
    String name = object.path("metadata").path("name").asText();
    if (!object.path("kind").asText().equals("Queue") || name.isEmpty()) {
      throw bad(
          file,
          "must hold objects of kind Queue with a metadata.name only, but has kind '%s'"
              .formatted(object.path("kind").asText()));
    }
    QueueSpec spec = STRICT.treeToValue(object.path("spec"), QueueSpec.class);
    if (spec == null) {
      return new Queue(name);
    }
    JsonNode quota = object.path("spec").path("quota");
    if (quota.isObject() && !quota.path("gpus").canConvertToInt()) {
      throw bad(file, "has queue %s with a quota but no quota.gpus. Add it.".formatted(name));
    }
    if (spec.stopPolicy() != null && spec.stopPolicy() != StopPolicyKind.None) {
      throw bad(
          file,
          "has queue %s with stopPolicy %s: its jobs would wait for ever. Take it out."
              .formatted(name, spec.stopPolicy()));
    }
    Double weight = spec.weight();
    String cohort = spec.cohort();
    Queue queue =
        new Queue(
            name,
            weight == null ? Queue.DEFAULT_WEIGHT : weight,
            cohort == null ? "" : cohort,
            Optional.ofNullable(spec.quota())
                .map(q -> new Quota(q.gpus(), limit(q.borrowingLimit()), limit(q.lendingLimit()))),
            StopPolicy.NONE);
    return spec.budget() == null ? queue : queue.withBudget(budget(spec.budget(), name, file));
  }

  private static Budget budget(BudgetSpec spec, String queue, Path file) {
    boolean stops = spec.onExceeded() != OnExceeded.LowerPriority;
    if (spec.period() == null) {
      throw bad(file, "has queue %s with a budget but no budget.period. Add it.".formatted(queue));
    }
    if (stops && spec.gpuHours() <= 0) {
      throw bad(
          file,
          "has queue %s with a budget of %s GPU-hours: its jobs would wait for ever. Raise it."
              .formatted(queue, spec.gpuHours()));
    }
    return new Budget(
        spec.gpuHours(),
        Budget.Period.valueOf(spec.period().name().toUpperCase(Locale.ROOT)),
        stops ? Budget.WhenSpent.STOP : Budget.WhenSpent.LOWER_PRIORITY);
  }

  private static int limit(@Nullable Integer limit) {
    return limit == null ? Quota.UNLIMITED : limit;
  }

  private static CliException bad(Path file, String what) {
    return new CliException(ExitCode.USAGE, "%s %s".formatted(file, what));
  }
}
